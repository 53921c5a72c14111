import CoreDataModel
import StoreReading

/// A line of the shell, as a value: a query, or a word about the shell itself.
enum ShellLine: Equatable {
    case nothing
    case query(String)
    case entities
    case describe(String)
    case format(RowFormat)
    case help
    case quit

    /// What is wrong with a line.
    struct Mistake: Error, Equatable {
        let message: String
    }

    static let words = [".entities", ".describe", ".format", ".help", ".quit"]

    static let helpText = """
        Book where price > 10 order by title limit 20    the objects that a condition holds for
        .entities            the entities, with how many objects each has
        .describe ENTITY     its attributes and relationships
        .format table        how objects are written: table, csv, json or jsonl
        .help                this
        .quit                ends; so does Ctrl-D. Ctrl-C stops an answer, or clears the line

        """

    /// - Throws: `Mistake` for a word that there is not.
    init(_ text: String) throws {
        let parts = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let first = parts.first else {
            self = .nothing
            return
        }
        guard first.hasPrefix(".") else {
            switch parts {
            case ["quit"], ["exit"]: self = .quit
            case ["help"]: self = .help
            default: self = .query(text)
            }
            return
        }
        switch first {
        case ".entities": self = .entities
        case ".help": self = .help
        case ".quit", ".exit": self = .quit
        case ".describe":
            guard parts.count == 2 else { throw Mistake(message: ".describe needs an entity") }
            self = .describe(parts[1])
        case ".format":
            guard parts.count == 2, let format = RowFormat(rawValue: parts[1]) else {
                throw Mistake(
                    message: ".format needs one of \(RowFormat.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            self = .format(format)
        default:
            let near = TextProblem.near(first, among: Self.words)
            throw Mistake(
                message: "there is no “\(first)”"
                    + (near.first.map { "; “\($0)” may be meant" } ?? "; .help lists what there is"))
        }
    }

    /// What may stand at the end of a line that is being typed, in place of its last word or of what follows the word's
    /// last dot. Pure.
    static func completions(_ text: String, _ layout: ModelLayout) -> [String] {
        let words = Words(text).words
        let typed = text.last.map { !$0.isWhitespace } == true ? words.last : nil
        let before = typed == nil ? words : Array(words.dropLast())
        let prefix = typed?.text ?? ""
        func matching(_ names: [String]) -> [String] { names.filter { $0.lowercased().hasPrefix(prefix.lowercased()) } }
        guard let first = before.first else {
            return text.hasPrefix(".") ? matching(Self.words) : matching(layout.entities.map(\.name))
        }
        if first.text == ".describe" { return matching(layout.entities.map(\.name)) }
        if first.text == ".format" { return matching(RowFormat.allCases.map(\.rawValue)) }
        guard let entity = layout.entityByName[first.text] else { return [] }
        if before.count == 1 { return matching(["where", "order by", "limit"]) }
        guard let start = text.range(of: before[1].text)?.upperBound else { return [] }
        let rest = String(text[start...])
        let found = KeyCompletion(rest, cursor: rest.count, entity: entity).items.map(\.text)
        return found + (typed == nil || !found.isEmpty ? [] : matching(["and", "or", "order by", "limit"]))
    }
}
