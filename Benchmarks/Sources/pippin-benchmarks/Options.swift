/// What the command line asks for.
struct Options {
    /// Rounds a work is measured in; the median counts.
    var rounds = 7
    /// The size of the table's works, in objects.
    var size = 100_000
    /// The sizes at which the time per object is compared.
    var sizes = [10_000, 100_000, 1_000_000]
    /// How many rows the store has that is migrated.
    var migratedRows = 1_000_000
    /// What time is measured with.
    var clock = Clock.wall
    /// How the C API's side opens files.
    var baseline = BaselineKind.serialized
    /// Only works whose title contains this.
    var only: String?
    /// Where the report goes, as JSON and as a plot; nil for nowhere.
    var json: String?
    var plot: String?
    /// Set in the process that measures memory: a title and which side to run.
    var alone: (title: String, isOurs: Bool)?

    static let usage = """
        usage: pippin-benchmarks [--rounds 7] [--size 100000] [--sizes 10000,100000,1000000 | --sizes none]
                                 [--migrated-rows 1000000] [--only TEXT] [--clock wall | --clock cpu]
                                 [--json FILE] [--plot FILE.svg] [--baseline serialized|nomutex|pages]
        """

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { throw UsageError(message: "\(option) needs a value") }
            switch option {
            case "--rounds": rounds = try Self.number(option, value)
            case "--size": size = try Self.number(option, value)
            case "--migrated-rows": migratedRows = try Self.number(option, value)
            case "--sizes":
                sizes =
                    value == "none" ? [] : try value.split(separator: ",").map { try Self.number(option, String($0)) }
            case "--only": only = value
            case "--json": json = value
            case "--plot": plot = value
            case "--baseline":
                guard let kind = BaselineKind(rawValue: value) else {
                    throw UsageError(message: "--baseline is serialized, nomutex or pages, not '\(value)'")
                }
                baseline = kind
            case "--clock":
                guard let named = Clock(rawValue: value) else {
                    throw UsageError(message: "--clock is wall or cpu, not '\(value)'")
                }
                clock = named
            case "--alone-ours": alone = (value, true)
            case "--alone-baseline": alone = (value, false)
            default: throw UsageError(message: "there is no option \(option)")
            }
        }
    }

    private static func number(_ option: String, _ value: String) throws -> Int {
        guard let number = Int(value), number > 0 else {
            throw UsageError(message: "\(option) needs a positive number, not '\(value)'")
        }
        return number
    }
}

struct UsageError: Error, CustomStringConvertible {
    let message: String
    var description: String { "\(message)\n\(Options.usage)" }
}
