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

    /// The value of a key; nil if this is no object, or has no such key.
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

    /// The value of an attribute of a type; `.null` for a type whose values are no JSON.
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
