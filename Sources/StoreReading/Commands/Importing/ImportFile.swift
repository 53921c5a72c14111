import Foundation

/// A file of objects: their values by name, as texts.
struct ImportFile {
    /// A value as the file has it.
    enum Value: Equatable {
        case none
        case text(String)
        /// A number, `true` or `false` in JSON.
        case literal(String)
        /// A list or an object in JSON: bytes that are JSON, or the elements of a composite attribute.
        case json(String)

        /// The content of a value; nil for none.
        var text: String {
            switch self {
            case .none: ""
            case .text(let text), .literal(let text), .json(let text): text
            }
        }
    }

    let name: String
    private let path: String
    let format: RowFormat
    /// Whether cells that begin with an apostrophe keep it.
    private let isVerbatim: Bool

    /// - Parameters:
    ///   - path: the file's path; `-` for the standard input.
    ///   - format: how the objects are written in it.
    ///   - isVerbatim: whether cells of CSV are read as they are; else the apostrophe goes that an export puts before
    ///     what spreadsheets would compute.
    init(_ path: String, _ format: RowFormat, isVerbatim: Bool = false) {
        name = path == "-" ? "standard input" : URL(fileURLWithPath: path).lastPathComponent
        (self.path, self.format, self.isVerbatim) = (path, format, isVerbatim)
    }

    /// The position of an object, in words.
    func place(_ number: Int) -> String { format == .json ? "element \(number)" : "line \(number)" }

    /// The objects, to be read from the beginning.
    ///
    /// - Throws: `CommandError` for a file that cannot be read.
    func objects() throws -> Objects { try Objects(self, ByteReader(path: path)) }

    /// The objects of a file, one after the other, as they are read.
    struct Objects {
        private enum Source {
            case records(CSVReader, heads: [String]?)
            case lines(ByteReader)
            case elements(JSONArrayReader)
        }

        private let file: ImportFile
        private var source: Source
        private var number = 0

        fileprivate init(_ file: ImportFile, _ bytes: ByteReader) throws {
            self.file = file
            var bytes = bytes
            switch file.format {
            case .csv, .table: source = .records(CSVReader(bytes), heads: nil)
            case .json: source = .elements(JSONArrayReader(bytes))
            case .jsonl:
                try bytes.skipMark()
                source = .lines(bytes)
            }
        }

        /// The part of the file that was read; nil if that is not known.
        var fraction: Double? {
            switch source {
            case .records(let reader, _): reader.fraction
            case .lines(let bytes): bytes.fraction
            case .elements(let elements): elements.fraction
            }
        }

        /// The next object: its line or element, and its values; nil at the end.
        ///
        /// - Throws: `CommandError` that names the place of what cannot be read.
        mutating func next() throws -> (number: Int, members: [(String, Value)])? {
            switch source {
            case .records(var reader, let heads):
                let isFirst = heads == nil
                let heads = try heads ?? reader.next(file.name)?.map { file.plain($0.text) }
                defer { source = .records(reader, heads: heads) }
                guard let heads, heads != [""] else {
                    throw CommandError("\(file.name) is empty: the first line of a CSV file names its columns")
                }
                if isFirst, Set(heads).count < heads.count {
                    let twice = heads.first { head in heads.count { $0 == head } > 1 } ?? ""
                    throw CommandError("\(file.name): the column “\(TextTools.inOneLine(twice))” is there twice")
                }
                while case let line = reader.line, let cells = try reader.next(file.name) {
                    if cells.count == 1, cells[0].text.isEmpty, !cells[0].isQuoted { continue }
                    guard cells.count == heads.count else {
                        throw CommandError(
                            "\(file.name), line \(line): \(cells.count) cells, where the first line has \(heads.count)")
                    }
                    return (
                        line,
                        zip(heads, cells).map {
                            ($0, $1.text.isEmpty && !$1.isQuoted ? .none : .text(file.plain($1.text)))
                        }
                    )
                }
                return nil
            case .lines(var bytes):
                defer { source = .lines(bytes) }
                while let line = try bytes.line() {
                    number += 1
                    if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
                    guard let members = JSONMembers.values(in: line) else {
                        throw CommandError("\(file.name), line \(number): no JSON object")
                    }
                    return (number, members)
                }
                return nil
            case .elements(var elements):
                defer { source = .elements(elements) }
                let element: Data?
                do { element = try elements.next() } catch is JSONArrayReader.Mistake { throw noArray() }
                guard let element else { return nil }
                number += 1
                guard let members = JSONMembers.values(in: element) else { throw noArray() }
                return (number, members)
            }
        }

        private func noArray() -> CommandError {
            CommandError("\(file.name): an array of objects in JSON expected")
        }
    }

    /// A cell as the object has it.
    private func plain(_ cell: String) -> String { isVerbatim ? cell : CSVText.unguarded(cell) }
}

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
    ///   bytes that are not UTF-8.
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
            default:
                cell.append(byte)
                _ = try bytes.copyCell(to: &cell, isQuoted: false)
            }
        }
        return cells + [try made()]
    }

    private mutating func quoted(_ name: String, _ start: Int) throws -> [UInt8] {
        var cell: [UInt8] = []
        while true {
            line += try bytes.copyCell(to: &cell, isQuoted: true)
            guard let byte = try bytes.next() else { break }
            guard try bytes.peek() == UInt8(ascii: "\"") else { return cell }
            _ = try bytes.next()
            cell.append(byte)
        }
        throw CommandError("\(name), line \(start): a quotation mark has no second one")
    }
}

/// The members of a JSON object as values to import. Pure.
enum JSONMembers {
    /// - Parameter text: a JSON object.
    /// - Returns: its members by name; nil for what is not an object.
    static func values(in text: Data) -> [(String, ImportFile.Value)]? {
        guard let object = (try? JSONSerialization.jsonObject(with: text)) as? [String: Any] else { return nil }
        var sources: [String: String]?
        return object.sorted { $0.key < $1.key }.map { name, value in
            switch value {
            case is NSNull: return (name, .none)
            case let text as String: return (name, .text(text))
            case let number as NSNumber: return (name, .literal(self.text(of: number)))
            default:
                sources = sources ?? self.sources(in: Array(text))
                return (name, .json(sources?[name] ?? ""))
            }
        }
    }

    private static func text(of number: NSNumber) -> String {
        // Foundation reads `true` into a number of its own type.
        String(cString: number.objCType) == "c" ? (number.boolValue ? "true" : "false") : number.stringValue
    }

    /// Lists and objects by name, byte by byte as they stand in the text of an object, which is valid: where bytes are
    /// JSON, they have to be the same.
    private static func sources(in text: [UInt8]) -> [String: String] {
        var sources: [String: String] = [:]
        var name: String?
        var (depth, start) = (0, 0)
        var index = 0
        while index < text.count {
            switch text[index] {
            case UInt8(ascii: "\""):
                let first = index
                index += 1
                while index < text.count, text[index] != UInt8(ascii: "\"") {
                    index += text[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard depth == 1, name == nil, index < text.count else { break }
                name =
                    (try? JSONSerialization.jsonObject(with: Data(text[first...index]), options: .fragmentsAllowed))
                    as? String
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if depth == 1 { start = index }
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 1, let name { sources[name] = String(decoding: text[start...index], as: UTF8.self) }
            case UInt8(ascii: ",") where depth == 1: name = nil
            default: break
            }
            index += 1
        }
        return sources
    }
}
