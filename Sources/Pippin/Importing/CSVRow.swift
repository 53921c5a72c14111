import Foundation

/// A record of a CSV file under its header: a value for each column that is not empty.
///
/// `author.name` is the column of a property within a property.
struct CSVRow {
    let fields: [String: String]
    let dateStyle: CSVDates

    init(header: [String], _ fields: [String], dates: CSVDates) {
        dateStyle = dates
        self.fields = Dictionary(
            zip(header, fields).filter { !$1.isEmpty }.map { ($0, $1) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether there is a value in a column, or in one within it.
    func has(_ column: String) -> Bool {
        fields[column] != nil || fields.keys.contains { $0.hasPrefix("\(column).") }
    }

    func value<Value: Decodable>(_ type: Value.Type, _ column: String, _ path: [any CodingKey]) throws -> Value {
        let decoder = CSVDecoder(row: self, column: column, codingPath: path)
        guard let text = fields[column] else { return try Value(from: decoder) }
        if let value = try leaf(type, text, path) { return value }
        // A list or an object has no columns of its own; it may be in one as JSON.
        if text.first == "[" || text.first == "{" { return try JSONDecoder().decode(type, from: Data(text.utf8)) }
        return try Value(from: decoder)
    }

    func text<Value>(_ type: Value.Type, _ column: String, _ path: [any CodingKey]) throws -> String {
        guard let text = fields[column] else {
            throw DecodingError.valueNotFound(type, .init(codingPath: path, debugDescription: "The field is empty."))
        }
        return text
    }

    /// A value of the types that a text stands for.
    ///
    /// - Returns: nil for other types.
    private func leaf<Value>(_ type: Value.Type, _ text: String, _ path: [any CodingKey]) throws -> Value? {
        let value: Any?
        switch type {
        case is String.Type: value = text
        case is UUID.Type: value = UUID(uuidString: text)
        case is URL.Type: value = URL(string: text)
        case is Decimal.Type: value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
        case is Data.Type: value = Data(base64Encoded: text)
        case is Date.Type: value = dateStyle.date(text)
        default: return nil
        }
        if let value = value as? Value { return value }
        throw DecodingError.dataCorrupted(
            .init(codingPath: path, debugDescription: "“\(text)” is no \(type)."))
    }

    /// A value of the standard library's types.
    func scalar<Value: LosslessStringConvertible>(_ column: String, _ path: [any CodingKey]) throws -> Value {
        let text = try text(Value.self, column, path)
        if let value = Value(text) { return value }
        throw DecodingError.dataCorrupted(
            .init(codingPath: path, debugDescription: "“\(text)” is no \(Value.self)."))
    }

    func boolean(_ column: String, _ path: [any CodingKey]) throws -> Bool {
        let text = try text(Bool.self, column, path)
        switch text.lowercased() {
        case "true", "yes", "1": return true
        case "false", "no", "0": return false
        default:
            throw DecodingError.dataCorrupted(
                .init(codingPath: path, debugDescription: "“\(text)” is neither true nor false."))
        }
    }
}

/// How dates are written in a CSV file.
public enum CSVDates: Sendable {
    /// As in `2024-05-17T08:30:00Z`, or `2024-05-17` for midnight in UTC.
    case iso8601
    /// Seconds since 1970.
    case secondsSince1970
    /// In a way of your own.
    case custom(@Sendable (String) -> Date?)

    func date(_ text: String) -> Date? {
        switch self {
        case .iso8601:
            (try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: .iso8601.year().month().day()))
        case .secondsSince1970: Double(text).map(Date.init(timeIntervalSince1970:))
        case .custom(let parse): parse(text)
        }
    }
}
