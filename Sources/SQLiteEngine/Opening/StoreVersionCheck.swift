import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Thrown if the structure of a store's file has changed since it was inspected: another program has migrated it, or
/// added an index or a table of its own. The store catches it and inspects the structure again.
struct StructureChange: Error {}

// Every reading, and every transaction, first reads one integer: the number that SQLite increases with each change of
// the structure.
extension OpenStore {
    /// Whether other programs can change the file.
    private var isShared: Bool { connection.mode != .memory && connection.mode != .immutable }

    /// Runs a reading in one state of the store: `PRAGMA schema_version`, whose read transaction stays open meanwhile.
    ///
    /// - Throws: `StructureChange` before anything is read.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        // Inside a transaction, or another reading, the structure has been checked already.
        guard isShared, !isReading, !connection.isInTransaction else { return try body() }
        let version = try versionStatement()
        isReading = true
        defer {
            version.reset()
            isReading = false
        }
        guard try run("read from", { try version.step() }), version.integer(at: 0) == structureVersion else {
            throw StructureChange()
        }
        return try body()
    }

    /// Runs a closure in a writing transaction, which is rolled back if the closure throws.
    ///
    /// - Throws: the errors of ``begin()``.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try begin()
        do {
            let result = try body()
            try connection.commit()
            return result
        } catch {
            // The first error is the one to report.
            try? connection.rollback()
            throw error
        }
    }

    /// Begins a writing transaction, or a part of the long one; or continues the one that keeps others out.
    ///
    /// - Throws: `StructureChange`; `UnexpectedChange` if others have changed the store against expectation; an
    ///   `NSError` if the file was moved or replaced. No transaction is open then.
    func begin() throws {
        if !locksOutWriters {
            let isPart = connection.isInTransaction
            try connection.begin(.immediate)
            guard !isPart else { return }
        }
        locksOutWriters = false
        do {
            try checkFile()
            if let expectedChanges, try changeCount() != expectedChanges { throw UnexpectedChange() }
        } catch {
            try? connection.rollback()
            throw error
        }
    }

    private func checkFile() throws {
        guard isShared else { return }
        let version = try versionStatement()
        defer { version.reset() }
        guard try version.step(), version.integer(at: 0) == structureVersion else { throw StructureChange() }
        guard connection.isMoved else { return }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "The file of the store “\(file.url.lastPathComponent)” was removed, or replaced by another one, while it was open; "
                + "nothing was saved.", url: file.url,
            suggestion: "Open the store again.")
    }

    /// SQLite's number that changes when another connection commits: `PRAGMA data_version`.
    func changeCount() throws -> Int64 {
        guard isShared else { return 0 }
        return try run("read from") {
            let statement = try changeStatement ?? connection.prepare("PRAGMA data_version")
            changeStatement = statement
            defer { statement.reset() }
            return try statement.step() ? statement.integer(at: 0) : 0
        }
    }

    /// Begins a transaction that writes nothing: others can read meanwhile, but not write. It does nothing inside
    /// another transaction.
    func lockOutWriters() throws {
        guard isShared, !connection.mode.onlyReads, !connection.isInTransaction else { return }
        try run("lock") { try begin() }
        locksOutWriters = true
    }

    /// Opens the transaction of ``lockOutWriters()`` where no lock has to be waited for, neither now nor at the commit:
    /// without a write-ahead log, a commit waits for readers.
    ///
    /// - Returns: whether others are kept out. A store in memory has no other writers.
    func lockOutWritersUnlessBusy() throws -> Bool {
        guard isShared else { return connection.mode == .memory }
        guard !connection.mode.onlyReads, !connection.isInTransaction, try hasWriteAheadLog() else { return false }
        // Whatever else is wrong is found again, and reported, by the save that waits.
        do { try connection.withoutWaiting { try begin() } } catch is SQLiteError { return false }
        locksOutWriters = true
        return true
    }

    /// Whether no writer keeps readers waiting: in memory, and in a file with a write-ahead log.
    var readsWithoutWaiting: Bool { !isShared || (try? hasWriteAheadLog()) == true }

    private func hasWriteAheadLog() throws -> Bool {
        if let known = isLogged { return known }
        let isLogged = try run("read from") { try connection.string("PRAGMA journal_mode")?.lowercased() == "wal" }
        self.isLogged = isLogged
        return isLogged
    }

    /// Ends the transaction that keeps others out; nothing happens where none does.
    func readmitWriters() {
        guard locksOutWriters else { return }
        locksOutWriters = false
        // Nothing was written in it.
        try? connection.rollback()
    }

    func versionStatement() throws -> Statement {
        if let known = structureStatement { return known }
        let made = try run("read from") { try connection.prepare("PRAGMA schema_version") }
        structureStatement = made
        return made
    }
}

extension StoreCatalog {
    /// The numbers of a model's entities. Apple's lightweight migration leaves a renamed entity under its former name
    /// in `Z_PRIMARYKEY`: it is found by its renaming identifier, unless an entity of the model has that name.
    package func numbers(for model: NSManagedObjectModel) -> [String: Int] {
        var known = numbers
        let names = model.entitiesByName
        for (name, entity) in names where numbers[name] == nil {
            guard let former = entity.renamingIdentifier, names[former] == nil else { continue }
            known[name] = numbers[former]
        }
        return known
    }
}
