import Foundation

/// Any JSON, with its numbers unchanged: a nested value that an attribute keeps, or a part of it.
package indirect enum NestedJSONValue: Codable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case array([NestedJSONValue])
    case object([String: NestedJSONValue])

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {
            self = .unsigned(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([NestedJSONValue].self) {
            self = .array(value)
        } else if let value = try? container.decode([String: NestedJSONValue].self) {
            self = .object(value)
        } else {
            let (decimal, double) = (try? container.decode(Decimal.self), try container.decode(Double.self))
            // More digits than a double has, or a larger exponent than a decimal.
            if let decimal, decimal != Decimal(string: "\(double)") {
                self = .decimal(decimal)
            } else {
                self = .double(double)
            }
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension NestedJSONValue {
    /// - Parameter data: the JSON.
    /// - Throws: the error of decoding.
    package init(_ data: Data) throws { self = try JSONDecoder().decode(NestedJSONValue.self, from: data) }

    package var isNull: Bool {
        if case .null = self { return true }
        return false
    }

    /// The value of a key; nil if this is not an object, or has no such key.
    package subscript(key: String) -> NestedJSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// The JSON.
    package func bytes() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(self)
    }

    /// The value of an element of a composite attribute, as it was encoded.
    ///
    /// - Throws: the error of decoding, for a value of another type.
    package func value(for element: AttributeLayout) throws -> StoredValue {
        if isNull { return .null }
        return element.isJSON ? .data(try bytes()) : try value(of: element.type)
    }

    /// The value of an attribute of a type; `.null` for a type whose values are not JSON.
    ///
    /// - Throws: the error of decoding, for a value of another type.
    package func value(of type: NSAttributeType) throws -> StoredValue {
        switch type {
        case .booleanAttributeType:
            if case .boolean(let flag) = self { return .integer(flag ? 1 : 0) }
            return .integer(try decoded())
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return .integer(try decoded())
        case .doubleAttributeType, .floatAttributeType: return .double(try decoded())
        case .dateAttributeType: return .date(try decoded())
        case .decimalAttributeType: return .object(NSDecimalNumber(decimal: try decoded()))
        case .UUIDAttributeType: return .uuid(try decoded())
        case .binaryDataAttributeType: return .data(try decoded())
        case .stringAttributeType: return .string(try decoded())
        case .URIAttributeType: return .object(try decoded(URL.self) as NSURL)
        default: return .null
        }
    }

    private func decoded<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: try bytes())
    }
}

/// One value of a row, in the form that stores and objects exchange: small, without boxes on the hot path.
///
/// Integers and Booleans of every width are `.integer`, floating-point numbers of both widths `.double`; the
/// attribute's type determines the `NSNumber`.
package enum StoredValue: @unchecked Sendable {
    // @unchecked Sendable: the objects in `.object` are immutable (NSDecimalNumber, NSURL, NSDictionary) or the
    // developer's transformable values, which Core Data shares between snapshots as well.

    /// No value.
    case null
    /// An integer or a Boolean.
    case integer(Int64)
    /// A floating-point number.
    case double(Double)
    /// A string.
    case string(String)
    /// Seconds since 2001-01-01 00:00 UTC.
    case date(Double)
    /// Bytes.
    case data(Data)
    /// A UUID.
    case uuid(UUID)
    /// The destination of a to-one relationship.
    case identifier(NSManagedObjectID)
    /// A decimal number, a URL, a transformable value, a composite value, or a value of a wrong type that validation
    /// will refuse (`UnacceptableValue`).
    case object(NSObject)

    /// Whether there is no value.
    @inlinable package var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}

extension StoredValue: Equatable {
    package static func == (left: StoredValue, right: StoredValue) -> Bool {
        switch (left, right) {
        case (.null, .null): return true
        case let (.integer(a), .integer(b)): return a == b
        case let (.double(a), .double(b)): return a == b || (a.isNaN && b.isNaN)
        case let (.string(a), .string(b)): return haveSameBytes(a, b)
        case let (.date(a), .date(b)): return a == b
        case let (.data(a), .data(b)): return a == b
        case let (.uuid(a), .uuid(b)): return a == b
        case let (.identifier(a), .identifier(b)): return a === b || a.isEqual(b)
        case let (.object(a), .object(b)): return a === b || a.isEqual(b) && haveSameTexts(a, b)
        default: return false
        }
    }

    /// Whether values that are equal have texts of the same bytes in them, too.
    package static func haveSameTexts(_ left: Any, _ right: Any) -> Bool {
        switch (left, right) {
        case let (left as String, right as String): haveSameBytes(left, right)
        case let (left as NSArray, right as NSArray): zip(left, right).allSatisfy(haveSameTexts)
        case let (left as NSOrderedSet, right as NSOrderedSet): zip(left, right).allSatisfy(haveSameTexts)
        case let (left as NSSet, right as NSSet):
            left.allSatisfy { member in right.member(member).map { haveSameTexts(member, $0) } ?? false }
        case let (left as [AnyHashable: Any], right as [AnyHashable: Any]):
            left.allSatisfy { key, value in
                guard let place = right.index(forKey: key) else { return false }
                return haveSameTexts(key.base, right[place].key.base) && haveSameTexts(value, right[place].value)
            }
        default: true
        }
    }

    /// Compares bytes: strings that are canonically equivalent but have different bytes are different values.
    private static func haveSameBytes(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        // A save compares all values of changed objects, most of which are identical, so memory is compared rather than
        // single characters.
        let areSame = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { right in
                guard let one = left.baseAddress, let other = right.baseAddress else { return true }
                return one == other || memcmp(one, other, left.count) == 0
            }
        }
        return (areSame ?? nil) ?? left.utf8.elementsEqual(right.utf8)
    }
}
