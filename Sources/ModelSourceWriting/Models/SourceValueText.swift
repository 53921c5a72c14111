import CompactCollections
import Foundation
import ModelFiles

/// Values as the editor writes them. Pure; `SourceReader.value` is the inverse.
enum SourceValueText {
    /// The type by its name in Xcode's files.
    static func name(of type: NSAttributeType) -> String {
        SourceReader.attributeTypes.first { $0.value == type }?.key ?? "Undefined"
    }

    /// Whether generated code can use a Swift number, date or UUID instead of an object, so that the file says which.
    static func hasScalarType(_ type: NSAttributeType) -> Bool {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .doubleAttributeType,
            .floatAttributeType, .booleanAttributeType, .dateAttributeType, .UUIDAttributeType:
            true
        default: false
        }
    }

    /// The text of a default value or a bound; nil if the editor cannot write it, or would not read it, as what is not
    /// finite or beyond the type's range.
    static func text(of value: ModelValue, type: NSAttributeType) -> String? {
        if case .double(let number) = value, !number.isFinite { return nil }
        guard let text = written(value, type: type) else { return nil }
        if case .date(let date) = value { return date.timeIntervalSinceReferenceDate.isFinite ? text : nil }
        return SourceReader.reads(text, as: type) ? text : nil
    }

    private static func written(_ value: ModelValue, type: NSAttributeType) -> String? {
        switch (type, value) {
        case (.booleanAttributeType, .boolean(let flag)): flag ? "YES" : "NO"
        case (.booleanAttributeType, .integer(let number)): number == 0 ? "NO" : "YES"
        case (.integer16AttributeType, .integer(let number)), (.integer32AttributeType, .integer(let number)),
            (.integer64AttributeType, .integer(let number)):
            "\(number)"
        case (.doubleAttributeType, .double(let number)), (.floatAttributeType, .double(let number)): "\(number)"
        case (.doubleAttributeType, .integer(let number)), (.floatAttributeType, .integer(let number)):
            "\(Double(number))"
        case (.decimalAttributeType, .decimal(let number)): decimal(number)
        case (.decimalAttributeType, .integer(let number)): "\(number).0"
        case (.decimalAttributeType, .double(let number)): decimal(Decimal(number))
        case (.stringAttributeType, .string(let text)): text
        case (.dateAttributeType, .date(let date)): interval(date)
        case (.UUIDAttributeType, .uuid(let uuid)): uuid.uuidString
        case (.URIAttributeType, .url(let url)): url
        default: nil
        }
    }

    /// Seconds since 2001, whole ones without a fraction.
    static func interval(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        return Int64(exactly: seconds).map { "\($0)" } ?? "\(seconds)"
    }

    /// The user info of the editor has texts only.
    static func userInfo(_ value: ModelValue) -> String? {
        if case .string(let text) = value { return text }
        return nil
    }

    /// Whole numbers with a fraction of 0, as the editor writes them.
    private static func decimal(_ number: Decimal) -> String {
        let digits = number.description
        return digits.contains(".") || number.isNaN ? digits : digits + ".0"
    }
}
