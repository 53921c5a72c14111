import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection

extension OpenStore {
    /// A value of a dictionary fetch in the user's form; nil for NULL.
    ///
    /// - Throws: 260 if the value is in a file beside the store that cannot be read.
    func value(_ statement: Statement, _ column: DictionaryColumn) throws -> Any? {
        if !column.elements.isEmpty { return try composite(statement, column) }
        let index = Int32(column.index)
        if statement.isNull(at: index) { return nil }
        if let destination = column.destination {
            let own = column.entityIndex.flatMap { index in
                entity(numbered: statement.integer(at: Int32(index)), kindOf: destination)
            }
            return NSManagedObjectID(layout: own ?? destination, store: identity, key: statement.integer(at: index))
        }
        if let attribute = column.attribute, let stored = storedValue(statement, index, column.storage, attribute) {
            try demandFile(of: stored, column)
            return stored.objectValue(for: attribute)
        }
        if case .data(allowsExternal: true) = column.storage,
            column.declaredType ?? .binaryDataAttributeType == .binaryDataAttributeType
        {
            let stored = external.value(of: statement.data(at: index), allowsExternal: true) { .data($0) }
            try demandFile(of: stored, column)
            if case .data(let content) = stored { return content }
        }
        return computedValue(statement, index, column)
    }

    /// The value of a column that shows an attribute.
    ///
    /// - Throws: 260 if the value is in a file beside the store that cannot be read.
    func storedValue(_ statement: Statement, _ column: DictionaryColumn) throws -> StoredValue {
        let index = Int32(column.index)
        guard !statement.isNull(at: index), let attribute = column.attribute,
            let value = storedValue(statement, index, column.storage, attribute)
        else { return .null }
        try demandFile(of: value, column)
        return value
    }

    private func demandFile(of value: StoredValue, _ column: DictionaryColumn) throws {
        guard let missing = value.missingExternalData else { return }
        throw StoreError.make(
            CocoaError.Code.fileReadNoSuchFile.rawValue, "“\(column.name)” cannot be fetched: \(missing.sentence)",
            url: missing.file)
    }

    /// The values of a composite attribute by name; nil if all of them are missing.
    private func composite(_ statement: Statement, _ column: DictionaryColumn) throws -> [String: Any]? {
        var values: [String: Any] = [:]
        for element in column.elements { values[element.name] = try value(statement, element) }
        return values.isEmpty ? nil : values
    }

    private func storedValue(
        _ statement: Statement, _ index: Int32, _ storage: ColumnStorage?, _ attribute: AttributeLayout
    ) -> StoredValue? {
        if let value = statement.plainValue(at: index, storage) { return value }
        switch storage {
        case .decimal: return .object(NSDecimalNumber.stored(statement.string(at: index)))
        case .url: return URL(string: statement.string(at: index)).map { .object($0 as NSURL) }
        case .uuid: return statement.uuid(at: index).map(StoredValue.uuid)
        case .data(let allowsExternal):
            return external.value(of: statement.data(at: index), allowsExternal: allowsExternal) { .data($0) }
        case .transformable(let allowsExternal):
            return external.value(of: statement.data(at: index), allowsExternal: allowsExternal) {
                TransformableCoding.value(of: $0, for: attribute, external.coding)
            }
        default: return nil
        }
    }

    /// A computed value in the type declared by its expression description, or else in the type that SQLite returns.
    private func computedValue(_ statement: Statement, _ index: Int32, _ column: DictionaryColumn) -> Any? {
        switch column.declaredType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return NSNumber(value: statement.integer(at: index))
        case .booleanAttributeType: return NSNumber(value: statement.integer(at: index) != 0)
        case .doubleAttributeType, .floatAttributeType: return NSNumber(value: statement.double(at: index))
        case .decimalAttributeType: return NSDecimalNumber.stored(statement.string(at: index))
        case .stringAttributeType: return statement.string(at: index)
        case .dateAttributeType: return Date(timeIntervalSinceReferenceDate: statement.double(at: index))
        case .binaryDataAttributeType: return statement.data(at: index)
        case .UUIDAttributeType: return statement.uuid(at: index)
        case .URIAttributeType: return URL(string: statement.string(at: index))
        default: break
        }
        if column.storage == .date { return Date(timeIntervalSinceReferenceDate: statement.double(at: index)) }
        if column.storage == .uuid { return statement.uuid(at: index) }
        switch statement.kind(at: index) {
        case .integer: return NSNumber(value: statement.integer(at: index))
        case .double: return NSNumber(value: statement.double(at: index))
        case .text: return statement.string(at: index)
        case .blob: return statement.data(at: index)
        case .null: return nil
        }
    }
}

extension Statement {
    /// The value of a column that is read without more than its kind; nil for other kinds.
    func plainValue(at index: Int32, _ storage: ColumnStorage?) -> StoredValue? {
        if isNull(at: index) { return .null }
        return switch storage {
        case .integer, .boolean: .integer(integer(at: index))
        case .double, .float: .double(double(at: index))
        case .date: .date(double(at: index))
        case .string: .string(string(at: index))
        default: nil
        }
    }
}
