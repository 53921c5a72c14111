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
    /// - Throws: `CommandError` for quotation marks that do not end, or are followed by more than a comma, and for
    ///   bytes that are no UTF-8.
    mutating func next(_ name: String) throws -> [Cell]? {
        if !hasBegun { try bytes.skipMark() }
        hasBegun = true
        guard try bytes.peek() != nil else { return nil }
        var cells: [Cell] = []
        var (cell, isQuoted): ([UInt8], Bool) = ([], false)
        let start = line
        func made() throws -> Cell {
            guard let text = String(validating: cell, as: UTF8.self) else {
                throw CommandError(
                    "\(name), line \(start): this is not UTF-8; write the file in UTF-8, such as with iconv, and import it again"
                )
            }
            return Cell(text: text, isQuoted: isQuoted)
        }
        while let byte = try bytes.next() {
            switch byte {
            case UInt8(ascii: "\"") where cell.isEmpty && !isQuoted:
                cell += try quoted(name, start)
                isQuoted = true
            case UInt8(ascii: ","):
                cells.append(try made())
                cell.removeAll(keepingCapacity: true)
                isQuoted = false
            case 0x0D where try bytes.peek() == 0x0A: continue
            case 0x0A, 0x0D:
                line += 1
                return cells + [try made()]
            case _ where isQuoted:
                throw CommandError(
                    "\(name), line \(start): a comma or the end of the line was expected after a quotation mark")
            default: cell.append(byte)
            }
        }
        return cells + [try made()]
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
