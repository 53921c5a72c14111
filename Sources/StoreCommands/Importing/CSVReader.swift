import StoreReading

/// Comma-separated values (RFC 4180), record by record.
struct CSVReader {
    struct Cell: Equatable {
        let text: String
        /// Whether it stood in quotation marks: an empty text, and not none.
        let isQuoted: Bool
    }

    private var bytes: ByteReader
    private var hasBegun = false
    /// The line that the next record begins in.
    private(set) var line = 1

    init(_ bytes: ByteReader) { self.bytes = bytes }

    /// How much of the file was read.
    var fraction: Double? { bytes.fraction }

    /// The next record's cells; nil at the end.
    ///
    /// - Throws: `CommandError` for quotation marks that do not end.
    mutating func next(_ name: String) throws -> [Cell]? {
        if !hasBegun { try bytes.skipMark() }
        hasBegun = true
        guard try bytes.peek() != nil else { return nil }
        var cells: [Cell] = []
        var (cell, isQuoted): ([UInt8], Bool) = ([], false)
        func made() -> Cell { Cell(text: String(decoding: cell, as: UTF8.self), isQuoted: isQuoted) }
        let start = line
        while let byte = try bytes.next() {
            switch byte {
            case UInt8(ascii: "\"") where cell.isEmpty && !isQuoted:
                cell += try quoted(name, start)
                isQuoted = true
            case UInt8(ascii: ","):
                cells.append(made())
                cell.removeAll(keepingCapacity: true)
                isQuoted = false
            case 0x0D where try bytes.peek() == 0x0A: continue
            case 0x0A, 0x0D:
                line += 1
                return cells + [made()]
            default: cell.append(byte)
            }
        }
        return cells + [made()]
    }

    private mutating func quoted(_ name: String, _ start: Int) throws -> [UInt8] {
        var cell: [UInt8] = []
        while let byte = try bytes.next() {
            if byte == 0x0A { line += 1 }
            guard byte == UInt8(ascii: "\"") else {
                cell.append(byte)
                continue
            }
            guard try bytes.peek() == UInt8(ascii: "\"") else { return cell }
            _ = try bytes.next()
            cell.append(byte)
        }
        throw CommandError("\(name), line \(start): a quotation mark has no second one")
    }
}
