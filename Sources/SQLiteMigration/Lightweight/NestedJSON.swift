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

    private static func value(in data: Data, at path: [String], _ kind: String) throws -> FunctionResult {
        var found = try NestedJSONValue(data)
        for key in path {
            guard let member = found[key] else { return .null }
            found = member
        }
        if found.isNull { return .null }
        switch kind {
        case "presence": return .integer(1)
        case "json": return .blob(try found.bytes())
        default: break
        }
        guard let type = Int(kind).flatMap({ NSAttributeType(rawValue: UInt($0)) }) else { return .null }
        switch try found.value(of: type) {
        case .integer(let number): return .integer(number)
        case .double(let number), .date(let number): return .double(number)
        case .object(let number as NSDecimalNumber): return .text(number.stringValue)
        case .object(let url as NSURL): return .text((url as URL).absoluteString)
        case .uuid(let uuid): return .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })
        case .data(let data): return .blob(data)
        case .string(let text): return .text(text)
        case .null, .identifier, .object: return .null
        }
    }
}
