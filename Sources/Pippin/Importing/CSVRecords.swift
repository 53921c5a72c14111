import Foundation

/// The records of a CSV file, as RFC 4180 has them: fields between delimiters, in quotes where they contain any or a line break,
/// quotes doubled within quotes.
struct CSVRecords: Sequence {
    struct Line: Equatable {
        /// The line on which the record begins, from 1.
        let number: Int
        let fields: [String]
        /// Where in the file the next record begins.
        let end: Int
        /// Whether the file ends within quotes.
        var isUnterminated = false

        var isBlank: Bool { fields.count == 1 && fields[0].isEmpty }
    }

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed: UInt8 = 0x0A
    private static let carriageReturn: UInt8 = 0x0D

    private let data: Data
    private let delimiter: UInt8
    var size: Int { data.count }

    /// - Throws: ``PersistenceError/fileNotReadable(path:reason:)``
    init(_ url: URL, delimiter: UInt8) throws { self.init(try Data(importing: url), delimiter: delimiter) }

    init(_ data: Data, delimiter: UInt8 = UInt8(ascii: ",")) {
        self.data = data
        self.delimiter = delimiter
    }

    func makeIterator() -> AnyIterator<Line> {
        // A byte order mark is no part of the first field.
        var position = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.startIndex + 3 : data.startIndex
        var line = 1
        return AnyIterator {
            guard position < data.endIndex else { return nil }
            return record(&position, &line)
        }
    }

    private func record(_ position: inout Int, _ line: inout Int) -> Line {
        let firstLine = line
        var fields: [String] = []
        var field: [UInt8] = []
        var isQuoted = false
        while position < data.endIndex {
            let byte = data[position]
            position += 1
            if byte == Self.lineFeed { line += 1 }
            if isQuoted {
                if byte != Self.quote {
                    field.append(byte)
                } else if position < data.endIndex, data[position] == Self.quote {
                    field.append(byte)
                    position += 1
                } else {
                    isQuoted = false
                }
            } else if byte == Self.quote, field.isEmpty {
                isQuoted = true
            } else if byte == delimiter {
                fields.append(String(decoding: field, as: UTF8.self))
                field = []
            } else if byte == Self.lineFeed {
                break
            } else if byte != Self.carriageReturn || position < data.endIndex && data[position] != Self.lineFeed {
                field.append(byte)
            }
        }
        fields.append(String(decoding: field, as: UTF8.self))
        return Line(number: firstLine, fields: fields, end: position - data.startIndex, isUnterminated: isQuoted)
    }
}
