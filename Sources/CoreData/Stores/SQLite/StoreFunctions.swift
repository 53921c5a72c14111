import Foundation
import SQLiteConnection

/// The SQL functions and collations that the statements and triggers of a store call.
enum StoreFunctions {
    /// Makes the functions known to a connection.
    ///
    /// - Parameter derived: collects what triggers report; see ``DerivedValues``.
    static func register(on connection: Connection, derived: DerivedValues) throws {
        try connection.register(function: SQLFunctionName.now, argumentCount: 0, isDeterministic: false) { _ in
            .double(Date().timeIntervalSinceReferenceDate)
        }
        try register(SQLFunctionName.uppercase, on: connection) { $0.uppercased() }
        try register(SQLFunctionName.lowercase, on: connection) { $0.lowercased() }
        try register(SQLFunctionName.canonical, on: connection) { StringComparison.canonical($0) }
        try connection.register(function: SQLFunctionName.stringSearch, argumentCount: 4) { arguments in
            guard let word = arguments.string(at: 0), let left = arguments.string(at: 2),
                let right = arguments.string(at: 3)
            else { return .null }
            let options = StringOptions(rawValue: UInt(truncatingIfNeeded: arguments.integer(at: 1)))
            switch StringComparison.holds(word, left, right, options) {
            case .success(let holds): return .integer(holds ? 1 : 0)
            case .failure(let error): return .failure(error.localizedDescription)
            }
        }
        for name in [SQLFunctionName.valueInserted, SQLFunctionName.valueUpdated] {
            try connection.register(function: name, argumentCount: 5, isDeterministic: false) { arguments in
                derived.note(arguments)
                return .null
            }
        }
        try register(SQLCollationName.caseInsensitive, on: connection, .caseInsensitive)
        try register(SQLCollationName.localized, on: connection, .localized)
        try register(SQLCollationName.localizedCaseInsensitive, on: connection, .localizedCaseInsensitive)
        try register(SQLCollationName.localizedStandard, on: connection, .localizedStandard)
    }

    private static func register(
        _ name: String, on connection: Connection, _ change: @escaping (String) -> String
    ) throws {
        try connection.register(function: name, argumentCount: 1) { arguments in
            arguments.string(at: 0).map { .text(change($0)) } ?? .null
        }
    }

    private static func register(
        _ name: String, on connection: Connection, _ comparison: SortTerm.Comparison
    ) throws {
        try connection.register(collation: name) { first, second in
            let left = String(decoding: first, as: UTF8.self)
            let right = String(decoding: second, as: UTF8.self)
            return StringComparison.order(left, right, comparison).rawValue
        }
    }
}

/// What the triggers of derived attributes reported since the last save began.
final class DerivedValues {
    struct Change {
        let number: Int
        let key: Int64
        let property: String
        let value: SQLValue
    }

    private(set) var changes: [Change] = []

    func removeAll() { changes.removeAll(keepingCapacity: true) }

    /// Notes a call `(table, Z_ENT, Z_PK, property, value)`.
    func note(_ arguments: FunctionArguments) {
        guard arguments.count == 5, let property = arguments.string(at: 3) else { return }
        let value: SQLValue
        switch arguments.kind(at: 4) {
        case .null: value = .null
        case .integer: value = .integer(arguments.integer(at: 4))
        case .double: value = .double(arguments.double(at: 4))
        case .text: value = .text(arguments.string(at: 4) ?? "")
        case .blob: value = .blob(arguments.data(at: 4) ?? Data())
        }
        changes.append(
            Change(
                number: Int(arguments.integer(at: 1)), key: arguments.integer(at: 2), property: property, value: value))
    }
}
