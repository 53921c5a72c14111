import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
        try reading("fetch from") {
            let fetchQuery = try FetchQuery(plan)
            do {
                let (fetch, result) = try runExactly(plan, fetchQuery, .dictionaries)
                return try dictionaries(result, fetch.fetch.columns)
            } catch is Inexact { return try snapshot { try evaluatedDictionaries(plan, fetchQuery) } }
        }
    }

    /// The values of a dictionary fetch's columns, which show attributes.
    func fetchTuples(_ plan: FetchPlan) throws -> [ContiguousArray<StoredValue>] {
        try reading("fetch from") {
            let fetchQuery = try FetchQuery(plan)
            do {
                let (fetch, result) = try runExactly(plan, fetchQuery, .dictionaries)
                return (0..<result.count).map { row in
                    ContiguousArray(
                        fetch.fetch.columns.map { column in
                            guard !result.isNull(row, column.index), let attribute = column.attribute else {
                                return .null
                            }
                            return storedValue(result, row, column.index, column.storage, attribute) ?? .null
                        })
                }
            } catch is Inexact { return plan.tuples(of: try snapshot { try evaluatedDictionaries(plan, fetchQuery) }) }
        }
    }

    func dictionaries(_ result: PostgresResult, _ columns: [DictionaryColumn]) throws -> [[String: Any]] {
        try (0..<result.count).map { row in
            var dictionary: [String: Any] = [:]
            for column in columns { dictionary[column.name] = try value(result, row, column) }
            return dictionary
        }
    }

    /// The value of a dictionary fetch's column as the user gets it.
    private func value(_ result: PostgresResult, _ row: Int, _ column: DictionaryColumn) throws -> Any? {
        if !column.elements.isEmpty {
            var composite: [String: Any] = [:]
            for element in column.elements { composite[element.name] = try value(result, row, element) }
            return composite.isEmpty ? nil : composite
        }
        let index = column.index
        if result.isNull(row, index) { return nil }
        if let destination = column.destination {
            let own = column.entityIndex.map { entity(numbered: result.integer(row, $0), kindOf: destination) }
            return NSManagedObjectID(layout: own ?? destination, store: identity, key: result.integer(row, index))
        }
        if let attribute = column.attribute, let stored = storedValue(result, row, index, column.storage, attribute) {
            return stored.objectValue(for: attribute)
        }
        return Self.computed(result, row, index, column)
    }

    private func storedValue(
        _ result: PostgresResult, _ row: Int, _ index: Int, _ storage: ColumnStorage?, _ attribute: AttributeLayout
    ) -> StoredValue? {
        switch storage {
        case .integer, .boolean: return .integer(result.integer(row, index))
        case .double, .float: return .double(result.double(row, index))
        case .date: return .date(result.timestamp(row, index).secondsSince2001)
        case .string: return .string(result.string(row, index))
        case .decimal: return result.numeric(row, index).map { .object(NSDecimalNumber(string: $0.text)) }
        case .url: return URL(string: result.string(row, index)).map { .object($0 as NSURL) }
        case .uuid: return result.uuid(row, index).map(StoredValue.uuid)
        case .data: return .data(result.data(row, index))
        case .transformable: return TransformableCoding.value(of: result.data(row, index), for: attribute)
        case .toOne, nil: return nil
        }
    }

    /// A computed value in the type that its expression description declares, or else as the server returns it.
    private static func computed(_ result: PostgresResult, _ row: Int, _ index: Int, _ column: DictionaryColumn) -> Any?
    {
        let found = natural(result, row, index, column.storage)
        return column.declaredType.map { $0.declaredValue(found) } ?? found
    }

    private static func natural(_ result: PostgresResult, _ row: Int, _ index: Int, _ storage: ColumnStorage?) -> Any? {
        switch result.type(index) {
        case .smallint, .integer, .bigint: return NSNumber(value: result.integer(row, index))
        case .boolean: return NSNumber(value: result.integer(row, index) != 0)
        case .double, .real: return NSNumber(value: result.double(row, index))
        case .numeric:
            guard let numeric = result.numeric(row, index) else { return nil }
            // The sum of whole numbers is a whole number, their average is not.
            if storage == .integer, let whole = Int64(numeric.text) { return NSNumber(value: whole) }
            if storage == .decimal { return NSDecimalNumber(string: numeric.text) }
            return Double(numeric.text).map { NSNumber(value: $0) }
        case .timestamp: return Date(timeIntervalSinceReferenceDate: result.timestamp(row, index).secondsSince2001)
        case .uuid: return result.uuid(row, index)
        case .bytes: return result.data(row, index)
        default: return result.string(row, index)
        }
    }
}
