import SQLiteEngine
import SQLGeneration
import CoreDataModel
import Foundation
import SQLiteConnection

/// Reads single values from the JSON of a nested value that gets columns of its own.
enum NestedJSON {
    /// The SQL for the value of an element.
    static func sql(_ column: String, _ path: [String], _ element: AttributeLayout) -> SQLFragment {
        if element.isPresenceMark { return presence(column, path.dropLast()) }
        let type: SQLFunction.NestedType = element.isJSON ? .json : .attribute(element.type)
        return .call(.nestedValue(path: path, type: type), "\(name: column)")
    }

    /// The SQL for whether there is a nested value.
    static func isPresent(_ column: String, _ path: [String]) -> SQLFragment {
        "\(presence(column, path)) IS NOT NULL"
    }

    /// The SQL for 1 if there is a nested value, and NULL otherwise.
    private static func presence(_ column: String, _ path: [String]) -> SQLFragment {
        .call(.nestedValue(path: path, type: .presence), "\(name: column)")
    }

    /// Registers the function with SQL.
    static func register(_ connection: Connection) throws {
        try connection.register(function: SQLFunctionName.nestedValue, argumentCount: 3) { arguments in
            guard let data = arguments.data(at: 0), let path = arguments.string(at: 1),
                let kind = arguments.string(at: 2)
            else { return .null }
            do {
                let keys = try JSONDecoder().decode([String].self, from: Data(path.utf8))
                return try value(in: data, at: keys, kind)
            } catch {
                return .failure("what is kept there is no JSON with a fitting “\(path)”: \(error)")
            }
        }
    }

    static func value(in data: Data, at path: [String], _ kind: String) throws -> FunctionResult {
        guard var found = try Optional(JSONDecoder().decode(JSONValue.self, from: data)) else { return .null }
        for key in path {
            guard case .object(let members) = found, let member = members[key] else { return .null }
            found = member
        }
        if case .null = found { return .null }
        if kind == "presence" { return .integer(1) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let json = try encoder.encode(found)
        if kind == "json" { return .blob(json) }
        func decoded<Value: Decodable>(_ type: Value.Type) throws -> Value {
            try JSONDecoder().decode(type, from: json)
        }
        switch Int(kind).flatMap({ NSAttributeType(rawValue: UInt($0)) }) {
        case .booleanAttributeType?:
            if case .boolean(let flag) = found { return .integer(flag ? 1 : 0) }
            return .integer(try decoded(Int64.self))
        case .integer16AttributeType?, .integer32AttributeType?, .integer64AttributeType?:
            return .integer(try decoded(Int64.self))
        case .doubleAttributeType?, .floatAttributeType?, .dateAttributeType?: return .double(try decoded(Double.self))
        case .decimalAttributeType?: return .text(NSDecimalNumber(decimal: try decoded(Decimal.self)).stringValue)
        case .UUIDAttributeType?: return .blob(withUnsafeBytes(of: try decoded(UUID.self).uuid) { Data($0) })
        case .binaryDataAttributeType?: return .blob(try decoded(Data.self))
        case .stringAttributeType?, .URIAttributeType?: return .text(try decoded(String.self))
        default: return .null
        }
    }
}

/// Any JSON, with its numbers unchanged.
private indirect enum JSONValue: Codable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case double(Double)
    case decimal(Decimal)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    init(from decoder: any Decoder) throws {
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
        } else if let value = try? container.decode([JSONValue].self) {
            self = .array(value)
        } else if let value = try? container.decode([String: JSONValue].self) {
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

    func encode(to encoder: any Encoder) throws {
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
