import Foundation
import StoreReading

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
