import CoreData
import Foundation
import SQLGeneration
import SQLiteConnection
import SQLiteEngine
import StoreEngine

/// Plain SQL on the file of a store, beside the coordinator that has it open.
enum ReadingConnection {
    /// A connection that changes nothing, with the collations that indexes may have, and the functions of checks.
    static func open(_ url: URL) throws -> Connection {
        var connection = try Connection(path: url.path, mode: .readOnly)
        do { _ = try connection.integer("PRAGMA schema_version") } catch let error as SQLiteError
            where (error.isCannotOpen || error.isReadOnly) && !StoreFile.hasContent(url, "-journal")
        {
            connection = try Connection(path: url.path, mode: .traceless)
        }
        try StoreFunctions.register(on: connection, derived: DerivedValues())
        try connection.register(function: ValueCheckSQL.isUTF8, argumentCount: 1) { arguments in
            .integer(arguments.withBytes(at: 0, UTF8Check.holds) ? 1 : 0)
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

/// How programs read stores of unknown origin: they leave no trace, and take no more memory than they say.
package enum CarefulReading {
    /// The most bytes of a value with which SQLite computes, such as a generated column.
    private static let longestValue: Int32 = 210_000_000
    /// The most bytes that SQLite takes together.
    private static let heap: Int64 = 232_000_000
    /// The most bytes that are read of an object's values: they are in memory twice for a moment.
    private static let largestRow = 64_000_000

    /// Begins it for the whole process. To be called before a store is opened, by programs that change none in its
    /// place.
    package static func begin() {
        OpenMode.readWithoutTrace()
        MemoryLimits.set(value: longestValue, heap: heap)
    }

    /// The options to open a store with that is shown: larger values are named instead.
    static var options: [AnyHashable: Any] { [StoreSettings.largestRowOption: largestRow] }
}

extension SQLiteError {
    /// A value, or what a statement makes of values, takes more memory than `CarefulReading` lets it.
    var isBeyondLimit: Bool {
        // SQLITE_NOMEM
        code == Self.tooLarge || code == 7
    }
}
