import Foundation

extension Value {
    /// The result types of `CAST(…, "…")`.
    package enum CastType: Sendable {
        case string, number, decimal, date, data, uuid, url
    }

    /// The types to cast to, by their names in a format string.
    package static let castTypes: [String: CastType] = [
        "NSString": .string, "NSNumber": .number, "NSDecimalNumber": .decimal, "NSDate": .date, "NSData": .data,
        "NSUUID": .uuid, "NSURL": .url,
        "String": .string, "Decimal": .decimal, "Date": .date, "Data": .data, "UUID": .uuid, "URL": .url,
    ]

    /// The value converted to another type; nil if the type is unknown or the value cannot be converted.
    package func cast(to name: String) -> Value? {
        guard let type = Value.castTypes[name] else { return nil }
        if isNull { return .null }
        switch type {
        case .string: return text.map { .string($0) }
        case .number: return number
        case .decimal: return decimal
        case .date: return date
        case .data: return data
        case .uuid: return uuid
        case .url: return url
        }
    }

    /// The value's text, if it has one.
    package var text: String? {
        switch self {
        case .string(let value): value
        case .integer(let value): String(value)
        case .double(let value): NSNumber(value: value).plainText
        case .decimal(let value): value.stringValue
        case .date(let value): value.description
        case .uuid(let value): value.uuidString
        case .url(let value): value.absoluteString
        case .data(let value): value.base64EncodedString()
        case .null, .collection, .object: nil
        }
    }

    private var number: Value? {
        switch self {
        case .integer, .double, .decimal: return self
        case .date(let value): return .double(value.timeIntervalSinceReferenceDate)
        case .string(let text):
            if let integer = Int64(text) { return .integer(integer) }
            return Double(text).map { .double($0) }
        default: return nil
        }
    }

    private var decimal: Value? {
        switch self {
        case .decimal: return self
        case .integer(let value): return .decimal(NSDecimalNumber(value: value))
        case .double(let value): return .decimal(NSDecimalNumber(value: value))
        case .string(let text):
            let number = NSDecimalNumber(string: text)
            return number == NSDecimalNumber.notANumber ? nil : .decimal(number)
        default: return nil
        }
    }

    private var date: Value? {
        switch self {
        case .date: return self
        default: return doubleValue.map { .date(Date(timeIntervalSinceReferenceDate: $0)) }
        }
    }

    private var data: Value? {
        switch self {
        case .data: self
        case .string(let text): Data(base64Encoded: text).map { .data($0) }
        default: nil
        }
    }

    private var uuid: Value? {
        switch self {
        case .uuid: self
        case .string(let text): UUID(uuidString: text).map { .uuid($0) }
        default: nil
        }
    }

    private var url: Value? {
        switch self {
        case .url: self
        case .string(let text): URL(string: text).map { .url($0) }
        default: nil
        }
    }

    /// The kind of the value, for error messages.
    package var kindDescription: String {
        switch self {
        case .null: "nil"
        case .integer(let value): "the integer \(value)"
        case .double(let value): "the number \(value)"
        case .decimal(let value): "the decimal number \(value.stringValue)"
        case .string(let value): "the string \"\(value.prefix(40))\""
        case .date: "a date"
        case .data: "data"
        case .uuid: "a UUID"
        case .url: "a URL"
        case .collection(let elements): "a collection of \(elements.count)"
        case .object(let reference): "an object of type \(type(of: reference.object))"
        }
    }
}

extension String {
    /// Whether two strings have the same bytes. Swift's `==` also holds for canonically equivalent strings, which
    /// differ for `isEqual(_:)` and for SQLite.
    package func isLiterallyEqual(to other: String) -> Bool {
        let fast = utf8.withContiguousStorageIfAvailable { first in
            other.utf8.withContiguousStorageIfAvailable { second in
                first.count == second.count && first.elementsEqual(second)
            }
        }
        if let fast, let fast { return fast }
        return utf8.elementsEqual(other.utf8)
    }

    /// The order of the strings' bytes, which is that of their Unicode scalars, and that of SQLite.
    package func literalComparison(with other: String) -> ComparisonResult {
        if utf8.lexicographicallyPrecedes(other.utf8) { return .orderedAscending }
        return isLiterallyEqual(to: other) ? .orderedSame : .orderedDescending
    }
}
