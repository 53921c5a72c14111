import CompactCollections
import Foundation
import SQLiteConnection

/// How a store's rows and the files beside it match.
package struct ExternalDataSummary: Equatable {
    /// How many values are kept in files.
    package let values: Int
    /// How many of these have no readable file.
    package let missing: Int
    /// How many files no row refers to.
    package let orphans: Int

    /// Reads all rows' references and the names in the folder, without changing anything.
    ///
    /// - Parameters:
    ///   - database: the store's database, or a copy of it.
    ///   - store: the store beside which the files are.
    /// - Throws: SQLite's errors, and those of the file system.
    package init(database: URL, store: URL) throws {
        try self.init(Connection(path: database.path, mode: .readWrite), store: store)
    }

    /// The same for an open database.
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
