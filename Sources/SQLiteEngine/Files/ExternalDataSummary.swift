import Foundation
import SQLiteConnection

/// How a store's rows and the files beside it fit together.
package struct ExternalDataSummary: Equatable {
    /// How many values are kept in files.
    package let values: Int
    /// How many of these have no file that can be read.
    package let missing: Int
    /// How many files are there that no row refers to.
    package let orphans: Int

    /// Reads all rows' references and the folder's names. Nothing changes.
    ///
    /// - Parameters:
    ///   - database: the store's database, or a copy of it.
    ///   - store: the store, beside which the files lie.
    /// - Throws: SQLite's errors, and those of the file system.
    package init(database: URL, store: URL) throws {
        try self.init(Connection(path: database.path, mode: .readWrite), store: store)
    }

    /// The same of a database that is open already.
    package init(_ connection: Connection, store: URL) throws {
        let files = try ExternalData(store: store).regularFileNames()
        var unused = files.filter { UUID(uuidString: $0) != nil }
        var (values, missing) = (0, 0)
        try ExternalReferences.forEach(in: connection) { name in
            values += 1
            if !files.contains(name) { missing += 1 }
            unused.remove(name)
        }
        (self.values, self.missing, orphans) = (values, missing, unused.count)
    }
}
