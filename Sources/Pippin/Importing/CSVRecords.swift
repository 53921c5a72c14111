import Foundation

/// The records of a CSV file, as RFC 4180 defines them: fields between delimiters, in quotes if they contain a quote, a
/// delimiter or a line break, with quotes doubled within quotes. Lines end with a line feed, a carriage return, or
/// both.
///
/// A record that cannot be read is reported with the reason, and only that record is lost: reading resumes on the line
/// after the one where its quotes began, so that a missing closing quote does not swallow the rest of the file.
struct CSVRecords: Sequence {
    /// Why a record cannot be read.
    struct Problem: Equatable {
        /// The position of the field, from 0.
        let field: Int
        let reason: String
    }

    struct Line: Equatable {
        /// The line on which the record begins, from 1.
        let number: Int
        var fields: [String] = []
        /// The positions of the fields that are an empty text in quotes, which counts as a value.
        var emptyTexts: Set<Int> = []
        /// The offset in the file at which the next record begins.
        var end = 0
        var problem: Problem?

        var isBlank: Bool { fields == [""] && emptyTexts.isEmpty && problem == nil }
    }

    private static let quote = UInt8(ascii: "\"")
    private static let lineFeed: UInt8 = 0x0A
    private static let carriageReturn: UInt8 = 0x0D

    private let data: Data
    private let delimiter: UInt8
    var size: Int { data.count }

    /// - Throws: ``PersistenceError/Code/fileNotReadable``
    init(_ url: URL, delimiter: UInt8) throws { self.init(try Data(importing: url), delimiter: delimiter) }

    init(_ data: Data, delimiter: UInt8 = UInt8(ascii: ",")) {
        self.data = data
        self.delimiter = delimiter
    }

    /// A place in the file.
    private struct Place {
        var offset: Int
        var line: Int
    }

    func makeIterator() -> AnyIterator<Line> {
        // A byte order mark is not part of the first field.
        let start = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.startIndex + 3 : data.startIndex
        var place = Place(offset: start, line: 1)
        return AnyIterator {
            guard place.offset < data.endIndex else { return nil }
            return record(&place)
        }
    }

    private func record(_ place: inout Place) -> Line {
        var record = Line(number: place.line)
        var field = Field(start: place)
        while place.offset < data.endIndex {
            let byte = data[place.offset]
            place.offset += 1
            if field.isOpen {
                if byte != Self.quote {
                    field.bytes.append(byte)
                    if endsLine(byte, &place) {
                        field.afterFirstLine = field.afterFirstLine ?? place
                        if byte == Self.carriageReturn, data[place.offset - 1] == Self.lineFeed {
                            field.bytes.append(Self.lineFeed)
                        }
                    }
                } else if place.offset < data.endIndex, data[place.offset] == Self.quote {
                    field.bytes.append(byte)
                    place.offset += 1
                } else {
                    field.isOpen = false
                }
            } else if byte == delimiter {
                add(field, to: &record)
                field = Field(start: place)
            } else if endsLine(byte, &place) {
                add(field, to: &record)
                return ended(record, place)
            } else if byte == Self.quote, field.bytes.isEmpty, !field.isQuoted {
                (field.isQuoted, field.isOpen) = (true, true)
            } else if field.isQuoted {
                return broken(record, field, "there is text after the quote that ends it", &place)
            } else {
                field.bytes.append(byte)
            }
        }
        if field.isOpen { return broken(record, field, "its quote has no end", &place) }
        add(field, to: &record)
        return ended(record, place)
    }

    /// Whether a byte ends a line. A line feed after a carriage return is part of the same line end.
    private func endsLine(_ byte: UInt8, _ place: inout Place) -> Bool {
        guard byte == Self.lineFeed || byte == Self.carriageReturn else { return false }
        if byte == Self.carriageReturn, place.offset < data.endIndex, data[place.offset] == Self.lineFeed {
            place.offset += 1
        }
        place.line += 1
        return true
    }

    private func ended(_ record: Line, _ place: Place) -> Line {
        var record = record
        record.end = place.offset - data.startIndex
        return record
    }

    /// A record that cannot be read because of a field. The next record begins on the line after the field's first
    /// line.
    private func broken(_ record: Line, _ field: Field, _ reason: String, _ place: inout Place) -> Line {
        var record = record
        let lines = place.line
        if let next = field.afterFirstLine {
            place = next
        } else {
            while place.offset < data.endIndex {
                let byte = data[place.offset]
                place.offset += 1
                if endsLine(byte, &place) { break }
            }
        }
        let isLong = lines > field.start.line
        record.problem = Problem(
            field: record.fields.count,
            reason: "\(reason); it begins in line \(field.start.line)"
                + (isLong ? ", and the lines after that are read as records of their own" : ""))
        return ended(record, place)
    }

    private func add(_ field: Field, to record: inout Line) {
        if field.bytes.isEmpty, field.isQuoted { record.emptyTexts.insert(record.fields.count) }
        if let text = String(validating: field.bytes, as: UTF8.self) {
            record.fields.append(text)
            return
        }
        let text = String(decoding: field.bytes.prefix(1_000), as: UTF8.self).quotable
        record.problem =
            record.problem ?? Problem(field: record.fields.count, reason: "“\(text)” is not text in UTF-8")
        record.fields.append(text)
    }

    /// A field that is being read.
    private struct Field {
        let start: Place
        var bytes: [UInt8] = []
        var isQuoted = false
        /// Whether the closing quote is still missing.
        var isOpen = false
        /// The position after the first line of a quoted field that has several lines.
        var afterFirstLine: Place?
    }
}
