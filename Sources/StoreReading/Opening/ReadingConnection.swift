import CoreData
import Foundation
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// Plain SQL on the file of a store, beside the coordinator that has it open.
enum ReadingConnection {
    /// A connection that changes nothing, with the collations that indexes may have, and the functions of checks.
    static func open(_ url: URL) throws -> Connection {
        var connection = try Connection(path: url.path, mode: .readOnly)
        do { _ = try connection.integer("PRAGMA schema_version") } catch let error as SQLiteError
            where (error.isCannotOpen || error.isReadOnly) && StoreFile.isWhole(url)
        {
            connection = try Connection(path: url.path, mode: .immutable)
        }
        try StoreFunctions.register(on: connection, derived: DerivedValues())
        try connection.register(function: ValueCheckSQL.isUTF8, argumentCount: 1) { arguments in
            let bytes = arguments.data(at: 0) ?? Data()
            return .integer(String(validating: bytes, as: UTF8.self) == nil ? 0 : 1)
        }
        return connection
    }

    /// The tables of a store.
    static func schema(of store: DirectStore, _ url: URL) throws -> SQLSchema {
        try schema(of: store.layout, store.coordinator.managedObjectModel, url)
    }

    /// The tables of a model in a file.
    static func schema(of layout: ModelLayout, _ model: NSManagedObjectModel, _ url: URL) throws -> SQLSchema {
        let catalog = try StoreFile.openForReading(url).catalog()
        return SQLSchema(
            layout: layout, entityNames: nil, numbers: catalog.numbers(for: model), catalog: catalog)
    }
}
