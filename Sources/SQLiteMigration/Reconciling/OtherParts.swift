import CoreDataModel
import Foundation
import MigrationPlans
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// Finds parts of nested JSON that would be lost if it got columns of its own.
enum OtherParts {
    /// The SQL for whether the JSON in a column has other parts than some.
    ///
    /// - Throws: an error of encoding.
    static func sql(_ column: String, _ parts: NestedParts) throws -> SQLFragment {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let known = String(decoding: try encoder.encode(parts), as: UTF8.self)
        return "\(word: SQLFunctionName.hasOtherParts)(\(name: column), \(text: known))"
    }

    /// Registers the function with SQL. What is no JSON counts as another part.
    static func register(_ connection: Connection) throws {
        try connection.register(function: SQLFunctionName.hasOtherParts, argumentCount: 2) { arguments in
            guard let data = arguments.data(at: 0), let known = arguments.string(at: 1) else { return .integer(0) }
            do {
                let parts = try JSONDecoder().decode(NestedParts.self, from: Data(known.utf8))
                guard let value = try? NestedJSONValue(data) else { return .integer(1) }
                return .integer(value.hasOthers(than: parts) ? 1 : 0)
            } catch {
                return .failure("\(error)")
            }
        }
    }
}

extension NestedJSONValue {
    /// Whether the value has anything for which the parts have no place. An empty list has nothing.
    func hasOthers(than parts: NestedParts) -> Bool {
        switch self {
        case .null: return false
        case .array(let elements): return !elements.isEmpty
        case .object(let members):
            return members.contains { key, value in
                guard !value.isNull else { return false }
                guard let part = parts.members[key] else { return true }
                return part.map { value.hasOthers(than: $0) } ?? false
            }
        default: return true
        }
    }
}
