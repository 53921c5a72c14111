import Foundation

/// What a client did, as it stands in the client's journal: one line each.
struct Entry: Equatable {
    enum Kind: String {
        case change, read
        /// A reading from a standby, which may see what others have written a little later.
        case look
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
final class Journal {
    private let file: FileHandle

    init(_ path: String) throws {
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }

    func write(_ entry: Entry) { file.write(Data(entry.line.utf8)) }

    /// Something that must not be, in words.
    func complain(_ text: String) {
        file.write(Data("complaint\t\(text.replacingOccurrences(of: "\n", with: " "))\n".utf8))
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
