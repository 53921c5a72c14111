import Foundation

/// What a client did, as it stands in the client's journal: one line each.
struct Entry: Equatable {
    enum Kind: String {
        case change, read
        /// A reading from a standby, which may see what others have written a little later.
        case look
        /// A save of an offer under a merge policy.
        case merge
        /// What a save or a reading of an offer says of one of its two values: `from` is `read` or `write`, `to` the
        /// value.
        case value
        /// A number that is counted up in a block of `write`.
        case count
        /// A name that is taken or given back, which only one may have.
        case claim
        /// What a live query has shown: who has a name.
        case shown

        /// Whether a save is told of, rather than a reading, or a part of one.
        var isSave: Bool { self == .change || self == .merge || self == .count || self == .claim }
    }
    enum Outcome: String {
        /// The program was told that it is done.
        case done
        /// The program was told that nothing was saved.
        case refused
        /// The program was told that it is not known, and was told so later.
        case foundDone, foundUndone
        /// Nobody could be asked until the end.
        case unknown
    }

    var kind: Kind
    var outcome: Outcome
    let client: Int
    /// The client's number for it; a save leaves a row with it.
    let sequence: Int
    let order: Int
    var start: UInt64
    var end: UInt64
    /// The order's stamp before and after; empty for an order that is not there.
    var from: String
    var to: String

    var line: String {
        [
            kind.rawValue, outcome.rawValue, "\(client)", "\(sequence)", "\(order)", "\(start)", "\(end)", from, to,
        ].joined(separator: "\t") + "\n"
    }

    init(
        _ kind: Kind, _ outcome: Outcome, client: Int, sequence: Int, order: Int, start: UInt64, end: UInt64,
        from: String = "", to: String = ""
    ) {
        (self.kind, self.outcome, self.client, self.sequence, self.order) = (kind, outcome, client, sequence, order)
        (self.start, self.end, self.from, self.to) = (start, end, from, to)
    }

    init?(line: Substring) {
        let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 9, let kind = Kind(rawValue: parts[0]), let outcome = Outcome(rawValue: parts[1]),
            let client = Int(parts[2]), let sequence = Int(parts[3]), let order = Int(parts[4]),
            let start = UInt64(parts[5]), let end = UInt64(parts[6])
        else { return nil }
        self.init(
            kind, outcome, client: client, sequence: sequence, order: order, start: start, end: end, from: parts[7],
            to: parts[8])
    }
}

/// The file that a client writes down what it did in.
final class Journal: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the file.
    private let file: FileHandle
    private let lock = NSLock()

    init(_ path: String) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    func write(_ entry: Entry) { lock.withLock { file.write(Data(entry.line.utf8)) } }

    /// Something that must not be, in words.
    func complain(_ text: String) {
        let line = "complaint\t\(text.replacingOccurrences(of: "\n", with: " "))\n"
        lock.withLock { file.write(Data(line.utf8)) }
    }

    static func read(_ path: String) -> (entries: [Entry], complaints: [String]) {
        let lines = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        var (entries, complaints): ([Entry], [String]) = ([], [])
        for line in lines.split(separator: "\n") {
            if let entry = Entry(line: line) { entries.append(entry) } else { complaints.append(String(line)) }
        }
        return (entries, complaints)
    }
}

/// The machine's clock, the same for all processes.
func now() -> UInt64 { DispatchTime.now().uptimeNanoseconds }
