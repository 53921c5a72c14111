import Foundation
import StoreReading

/// A file of objects: their values by name, as texts.
struct ImportFile {
    /// A value as the file has it.
    enum Value: Equatable {
        case none
        case text(String)
        /// A list or an object, which no attribute takes.
        case other
    }

    let name: String
    private let format: RowFormat
    private let data: Data

    /// - Throws: `CommandError` for a file that cannot be read.
    init(_ path: String, _ format: RowFormat) throws {
        name = URL(fileURLWithPath: path).lastPathComponent
        self.format = format
        do { data = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe) } catch {
            throw CommandError(
                "“\(path)” cannot be read: \(FileManager.default.fileExists(atPath: path) ? "\(error)" : "there is no such file")"
            )
        }
    }

    /// For tests.
    init(_ text: String, name: String = "file", format: RowFormat) {
        (self.name, self.format, data) = (name, format, Data(text.utf8))
    }

    /// Where an object stands, in words.
    func place(_ number: Int) -> String { format == .json ? "element \(number)" : "line \(number)" }

    /// Hands out the objects one by one.
    ///
    /// - Throws: `CommandError` that names the place of what cannot be read, and what `body` throws.
    func forEach(_ body: (Int, [(String, Value)]) throws -> Void) throws {
        switch format {
        case .csv, .table: try forEachRecord(body)
        case .jsonl:
            var number = 0
            for line in data.split(separator: 0x0A, omittingEmptySubsequences: false) {
                number += 1
                if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
                guard let object = (try? JSONSerialization.jsonObject(with: Data(line))) as? [String: Any] else {
                    throw CommandError("\(name), line \(number): no JSON object")
                }
                try body(number, Self.members(object))
            }
        case .json:
            guard let objects = (try? JSONSerialization.jsonObject(with: data)) as? [[String: Any]] else {
                throw CommandError("\(name): an array of objects in JSON expected")
            }
            for (index, object) in objects.enumerated() { try body(index + 1, Self.members(object)) }
        }
    }

    private static func members(_ object: [String: Any]) -> [(String, Value)] {
        object.sorted { $0.key < $1.key }.map { name, value in
            switch value {
            case is NSNull: (name, .none)
            case let text as String: (name, .text(text))
            case let number as NSNumber: (name, .text(CFBooleanText.text(of: number)))
            default: (name, .other)
            }
        }
    }

    private func forEachRecord(_ body: (Int, [(String, Value)]) throws -> Void) throws {
        var reader = CSVReader(data)
        guard let heads = try reader.next(name) else { return }
        while case let line = reader.line, let cells = try reader.next(name) {
            if cells == [""] { continue }
            guard cells.count == heads.count else {
                throw CommandError(
                    "\(name), line \(line): \(cells.count) cells, where the first line has \(heads.count)")
            }
            try body(line, zip(heads, cells).map { ($0, $1.isEmpty ? .none : .text($1)) })
        }
    }
}

/// Numbers of JSON as texts.
private enum CFBooleanText {
    static func text(of number: NSNumber) -> String {
        // Foundation reads `true` into a number of its own type.
        String(cString: number.objCType) == "c" ? (number.boolValue ? "true" : "false") : number.stringValue
    }
}

/// Comma-separated values (RFC 4180), record by record.
struct CSVReader {
    private let bytes: [UInt8]
    private var position = 0
    /// The line that the next record begins in.
    private(set) var line = 1

    init(_ data: Data) {
        bytes = Array(data)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// The next record's cells; nil at the end.
    ///
    /// - Throws: `CommandError` for quotation marks that do not end.
    mutating func next(_ name: String) throws -> [String]? {
        guard position < bytes.count else { return nil }
        var cells: [String] = []
        var cell: [UInt8] = []
        let start = line
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\"") where cell.isEmpty:
                cell += try quoted(name, start)
            case UInt8(ascii: ","):
                cells.append(String(decoding: cell, as: UTF8.self))
                cell = []
            case 0x0D where position < bytes.count && bytes[position] == 0x0A: continue
            case 0x0A, 0x0D:
                line += 1
                return cells + [String(decoding: cell, as: UTF8.self)]
            default: cell.append(byte)
            }
        }
        return cells + [String(decoding: cell, as: UTF8.self)]
    }

    private mutating func quoted(_ name: String, _ start: Int) throws -> [UInt8] {
        var cell: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if byte == 0x0A { line += 1 }
            guard byte == UInt8(ascii: "\"") else {
                cell.append(byte)
                continue
            }
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return cell }
            position += 1
            cell.append(byte)
        }
        throw CommandError("\(name), line \(start): a quotation mark has no second one")
    }
}
