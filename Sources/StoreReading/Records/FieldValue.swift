import CoreData
import ModelFiles

/// A property's value, by the kinds that are written differently.
package enum FieldValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case double(Double)
    /// A decimal number's digits.
    case decimal(String)
    case string(String)
    /// Seconds since 2001.
    case date(Double)
    /// A date as it is written, in ISO 8601.
    case dateText(String)
    case data(Data)
    /// The bytes of a transformable value, which are a property list and may be an archive.
    case archive(Data)
    /// Bytes that contain JSON.
    case json(String)
    case uuid(UUID)
    case url(String)
    /// A value in a file that cannot be read: the file's path, and the reason.
    case missing(file: String, reason: String)
    /// The elements of a composite attribute, by name.
    case composite([Element])
    /// A to-one relationship without destination.
    case noObject
    case object(ObjectLink)
    case objects([ObjectLink])
    /// Several values, in a store without a model.
    case list([FieldValue])
    /// A value whose place in the store is unknown, and the reason.
    case unknown(String)

    package struct Element: Equatable {
        package let name: String
        package let value: FieldValue
        package let role: ElementRole

        package init(name: String, value: FieldValue, role: ElementRole = .member) {
            (self.name, self.value, self.role) = (name, value, role)
        }
    }

    /// - Parameters:
    ///   - value: the stored value.
    ///   - attribute: distinguishes Booleans from integers, and gives the elements of composites.
    package init(_ value: StoredValue, _ attribute: AttributeLayout) {
        switch value {
        case .null: self = .null
        case .integer(let value):
            self = attribute.type == .booleanAttributeType ? .boolean(value != 0) : .integer(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .date(let value): self = .date(value)
        case .data(let value) where attribute.type == .transformableAttributeType && PropertyList.isBinary(value):
            self = .archive(value)
        case .data(let value): self = Self.json(in: value, attribute).map(FieldValue.json) ?? .data(value)
        case .uuid(let value): self = .uuid(value)
        case .identifier(let value): self = .object(ObjectLink(value))
        case .object(let value): self = FieldValue(object: value, attribute)
        }
    }

    /// The JSON in bytes: an array or an object in any case, a single value only if the model says so.
    private static func json(in data: Data, _ attribute: AttributeLayout) -> String? {
        guard attribute.type == .binaryDataAttributeType, let first = data.first, let last = data.last,
            attribute.isJSON || (first == UInt8(ascii: "{") && last == UInt8(ascii: "}"))
                || (first == UInt8(ascii: "[") && last == UInt8(ascii: "]")),
            JSONCheck.holds(data, allowsFragments: true)
        else { return nil }
        return String(data: data, encoding: .utf8)
    }

    /// The bytes that the store has, but for those that are shown as JSON; nil for another value.
    var bytes: Data? {
        switch self {
        case .data(let data), .archive(let data): data
        default: nil
        }
    }

    /// Why the value, or an element of it, cannot be read; nil if it can.
    var gap: String? {
        switch self {
        case .missing(let file, let reason): "“\(file)”: \(reason)"
        case .unknown(let reason): reason
        case .composite(let elements): elements.lazy.compactMap(\.value.gap).first
        default: nil
        }
    }

    /// Whether nothing of the value can be read.
    var isGap: Bool {
        switch self {
        case .missing, .unknown: true
        default: false
        }
    }

    /// The value without what cannot be read.
    var withoutGaps: FieldValue {
        guard gap != nil else { return self }
        guard case .composite(let elements) = self else { return .null }
        return .composite(
            elements.filter { !$0.value.isGap }.map {
                Element(name: $0.name, value: $0.value.withoutGaps, role: $0.role)
            })
    }

    /// A value that the attribute's type does not have, as the store has it.
    private static func shown(_ value: UnacceptableValue) -> FieldValue {
        switch value.value {
        case let number as NSNumber where number.isFloatingPoint: .double(number.doubleValue)
        case let number as NSNumber: .integer(number.int64Value)
        default: .string(value.text)
        }
    }

    private init(object: NSObject, _ attribute: AttributeLayout) {
        switch object {
        case let value as NSDecimalNumber: self = .decimal(value.stringValue)
        case let value as NSURL: self = .url(value.absoluteString)
        case let value as UnacceptableValue: self = Self.shown(value)
        case let value as UnavailableValue: self = .unknown(value.reason)
        case let value as MissingExternalData: self = .missing(file: value.file.path, reason: value.reason)
        case let value as CompositeValue:
            let role = ElementRole(of: attribute)
            self = .composite(
                attribute.elements.map { element in
                    Element(name: element.name, value: FieldValue(value.stored(element), element), role: role)
                })
        default: self = .string("\(object)")
        }
    }
}
