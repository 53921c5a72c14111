import Foundation

/// How values are shown, whatever the format: in which time zone dates are, which numbers are dates, and what is
/// written beside the values. Pure.
package struct ValueStyle: Equatable, Sendable {
    /// The numbers that are dates.
    package var epochs = DateEpochs([:])
    /// The time zone of dates; nil for UTC.
    package var timeZone: TimeZone?
    /// Whether what bytes hold is written beside them; see `ByteContent`.
    package var decodes = false
    /// Whether what the store has is written beside a value that is shown otherwise: dates and bytes.
    package var showsRaw = false

    package init() {}

    package typealias Field = (name: String, value: FieldValue)

    /// A value with the dates that its numbers are. A number that would be a date beyond every calendar stays.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - property: its property; of an element of a composite attribute the key path.
    ///   - entity: the object's entity.
    /// - Returns: the value to show.
    func shown(_ value: FieldValue, _ property: String, of entity: String) -> FieldValue {
        guard !epochs.isEmpty else { return value }
        if case .composite(let elements) = value {
            return .composite(
                elements.map {
                    FieldValue.Element(
                        name: $0.name, value: shown($0.value, "\(property).\($0.name)", of: entity), role: $0.role)
                })
        }
        guard let epoch = epochs.epoch(of: property, in: entity), let seconds = epoch.date(of: value) else {
            return value
        }
        return .date(seconds)
    }

    /// A value whose dates are texts, in the time zone.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - decimals: the fewest decimals of the second.
    /// - Returns: the value to write.
    func inZone(_ value: FieldValue, decimals: Int = 0) -> FieldValue {
        switch value {
        case .date(let seconds) where timeZone != nil || decimals > 0:
            .dateText(TextTools.iso8601(seconds, decimals: decimals, in: timeZone))
        case .composite(let elements) where timeZone != nil:
            .composite(elements.map { FieldValue.Element(name: $0.name, value: inZone($0.value), role: $0.role) })
        default: value
        }
    }

    /// What is written beside an object's values, as members of a JSON object.
    ///
    /// - Parameters:
    ///   - fields: the values as they are read.
    ///   - entity: the object's entity.
    ///   - marks: whether there is a member for what is not there of them.
    /// - Returns: the members that have something to say.
    func members(beside fields: [Field], of entity: String, marks: Bool) -> [(String, String)] {
        [
            (ObjectHead.marks, marks ? ValueMarks.text(of: fields) : nil),
            (ObjectHead.contents, decodes ? ByteContent.json(of: fields) : nil),
            (ObjectHead.raw, showsRaw ? rawJSON(of: fields, entity) : nil),
        ].compactMap { name, text in text.map { (name, $0) } }
    }

    /// The names of what may be beside the values, for a table.
    func names(marks: Bool) -> [String] {
        [(ObjectHead.marks, marks), (ObjectHead.contents, decodes), (ObjectHead.raw, showsRaw)]
            .filter(\.1).map(\.0)
    }

    // MARK: What the store has

    private enum Raw {
        case number(String)
        case bytes(Data)
    }

    /// What the store has of a value that is shown otherwise, and of its elements by their key paths.
    private func raw(_ value: FieldValue, _ path: String, of entity: String) -> [(String, Raw)] {
        switch value {
        case .date(let seconds): [(path, .number(JSONText.number(seconds)))]
        case .integer(let number):
            shown(value, path, of: entity) == value ? [] : [(path, .number("\(number)"))]
        case .double(let number):
            shown(value, path, of: entity) == value ? [] : [(path, .number(JSONText.number(number)))]
        case .data(let data), .archive(let data): [(path, .bytes(data))]
        case .json(let text): [(path, .bytes(Data(text.utf8)))]
        case .uuid(let identifier): [(path, .bytes(withUnsafeBytes(of: identifier.uuid) { Data($0) }))]
        case .composite(let elements): elements.flatMap { raw($0.value, "\(path).\($0.name)", of: entity) }
        default: []
        }
    }

    /// `{"sent": 736263015.25, "note": "eyJhIjoxfQ=="}`: dates as numbers, bytes in Base64.
    private func rawJSON(of fields: [Field], _ entity: String) -> String? {
        let members = fields.flatMap { raw($0.value, $0.name, of: entity) }.map { path, value in
            let text =
                switch value {
                case .number(let number): number
                case .bytes(let data): JSONText.string(data.base64EncodedString())
                }
            return (ObjectHead.property(path), text)
        }
        return members.isEmpty ? nil : JSONText.object(members)
    }

    /// `   [736263015.25]`, `   [7b2261223a317d]`: what the store has of a value, in brackets; empty for a value that
    /// is shown as the store has it.
    func rawText(of value: FieldValue, _ property: String, of entity: String) -> String {
        guard showsRaw else { return "" }
        let parts = raw(value, property, of: entity).map { path, value in
            let text =
                switch value {
                case .number(let number): number
                case .bytes(let data): Self.digits(of: data)
                }
            return path == property ? text : "\(TextTools.inOneLine(path)): \(text)"
        }
        return parts.isEmpty ? "" : "   [\(parts.joined(separator: ", "))]"
    }

    private static func digits(of data: Data) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * data.count)
        for byte in data { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }
}

extension DateEpoch {
    /// The date of a number, in seconds since 2001; nil for a value that is not a number, and for a date beyond every
    /// calendar.
    fileprivate func date(of value: FieldValue) -> Double? {
        let seconds: Double
        switch value {
        case .integer(let number): seconds = secondsSince2001(Double(number))
        case .double(let number), .date(let number): seconds = secondsSince2001(number)
        default: return nil
        }
        return TextTools.isInCalendar(seconds) ? seconds : nil
    }
}
