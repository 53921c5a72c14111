import Foundation

/// Converts attributes between stores and files. Pure.
enum FileValues {
    /// An attribute's value for a file; `nil` if there is none.
    ///
    /// - Throws: the reason why the value cannot be written.
    static func fileValue(_ value: StoredValue, of attribute: AttributeLayout) throws(Failure) -> StoreDocument
        .FileValue?
    {
        switch (value, attribute.type) {
        case (.null, _): return nil
        case (.integer(let number), _): return .integer(number)
        case (.double(let number), _), (.date(let number), _): return .double(number)
        case (.string(let text), _): return .text(text)
        case (.data(let data), _): return .data(data)
        case (.uuid(let uuid), _): return .text(uuid.uuidString)
        case (.object(let url as NSURL), .URIAttributeType): return .text((url as URL).absoluteString)
        case (.object(let number as NSDecimalNumber), .decimalAttributeType):
            return number == NSDecimalNumber.notANumber ? nil : .text(number.description(withLocale: nil))
        case (.object(let object), .transformableAttributeType):
            if let bytes = TransformableCoding.bytes(of: object, for: attribute) {
                return .data(bytes)
            }
            let name = attribute.valueTransformerName ?? ""
            throw Failure(reason: "the transformer “\(name)” is not known, or cannot transform the value")
        default: throw Failure(reason: "its value is not of the attribute's type")
        }
    }

    /// An attribute's value from a file.
    ///
    /// - Throws: the reason why the value is invalid.
    static func storedValue(
        _ value: StoreDocument.FileValue, of attribute: AttributeLayout, _ options: TransformableCoding.Options
    ) throws(Failure) -> StoredValue {
        if attribute.type == .transformableAttributeType {
            if let data = data(value) { return TransformableCoding.value(of: data, for: attribute, options) }
        } else if let stored = plainValue(value, as: attribute.type) {
            return stored
        }
        throw Failure(reason: "its value is not of type \(attribute.type.xmlName)")
    }

    /// Whether an attribute of a type can have a value as it is.
    static func isReadable(_ value: StoreDocument.FileValue, as type: NSAttributeType) -> Bool {
        if type == .transformableAttributeType { return data(value) != nil }
        guard let stored = plainValue(value, as: type) else { return false }
        switch (stored, type) {
        case (_, .booleanAttributeType): return double(value) == 0 || double(value) == 1
        case (.integer(let number), _): return type.wholeNumbers?.contains(number) ?? true
        case (.double(let number), .floatAttributeType): return !number.isFinite || Float(number).isFinite
        case (.date(let seconds), _): return seconds.isFinite
        // A date that is NaN counts as no value.
        case (.null, _): return false
        default: return true
        }
    }

    /// Any value as a text.
    static func text(of value: StoreDocument.FileValue) -> String {
        switch value {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .data(let data): data.base64EncodedString()
        }
    }

    /// The characters of a decimal number.
    private static let numerals = Array("0123456789.+-eE".utf8)

    private static func plainValue(_ value: StoreDocument.FileValue, as type: NSAttributeType) -> StoredValue? {
        switch type {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            if let number = whole(value) { return .integer(number) }
        case .booleanAttributeType:
            if let number = double(value), !number.isNaN { return .integer(number == 0 ? 0 : 1) }
        case .doubleAttributeType, .floatAttributeType:
            if let number = double(value) { return .double(number) }
        case .dateAttributeType:
            // A date that is NaN counts as no value, as in SQLite: Foundation cannot even describe it.
            if let number = double(value) { return number.isNaN ? .null : .date(number) }
        case .stringAttributeType:
            if case .text(let text) = value { return .string(text) }
        case .UUIDAttributeType:
            if case .text(let text) = value, let uuid = UUID(uuidString: text) { return .uuid(uuid) }
        case .URIAttributeType:
            if case .text(let text) = value, let url = URL(string: text) { return .object(url as NSURL) }
        case .decimalAttributeType:
            // Foundation reads the digits at the start of any text.
            if case .text(let text) = value, text.utf8.allSatisfy({ Self.numerals.contains($0) }),
                Double(text) != nil, Decimal(string: text) != nil
            {
                return .object(NSDecimalNumber(string: text))
            }
        case .binaryDataAttributeType:
            if let data = data(value) { return .data(data) }
        default: break
        }
        return nil
    }

    /// A whole number, which Core Data archives as a real one if it was set as one.
    private static func whole(_ value: StoreDocument.FileValue) -> Int64? {
        switch value {
        case .integer(let number): number
        case .double(let number): Int64(exactly: number)
        case .text(let text): Int64(text)
        case .data: nil
        }
    }

    private static func double(_ value: StoreDocument.FileValue) -> Double? {
        switch value {
        case .double(let number): number
        case .integer(let number): Double(number)
        case .text(let text): Double(text)
        case .data: nil
        }
    }

    private static func data(_ value: StoreDocument.FileValue) -> Data? {
        switch value {
        case .data(let data): data
        case .text(let text): Data(base64Encoded: text, options: .ignoreUnknownCharacters)
        case .integer, .double: nil
        }
    }

    /// The reason why a value cannot be written to a file, or read from it.
    typealias Failure = StoreDocument.Failure
}
