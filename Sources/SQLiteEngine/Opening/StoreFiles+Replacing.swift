import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension StoreFiles {
    /// Replaces a store by a copy of another one. Programs that have it open see a single change.
    ///
    /// First the new files of external data are put beside the old ones, and written to the disk; then the database is
    /// replaced in one transaction; then the old files are removed. Whenever this is interrupted, the destination is
    /// intact: as it was, or as the source is. A store that is replaced by itself stays as it is: a copy would wait for
    /// the source's own reader.
    ///
    /// - Parameters:
    ///   - destination: the store to replace.
    ///   - source: the store to copy.
    ///   - options: the options with which the store is opened.
    ///   - code: the code for errors for which SQLite's own code is not more specific.
    ///   - open: the destination, if the caller has it open; it must not be in a transaction.
    ///   - whenLocked: called when other connections cannot write to the destination, and nothing has been copied yet;
    ///     if it throws, the destination is unchanged.
    /// - Throws: the errors of SQLite and the file system, and what `whenLocked` throws.
    package static func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?,
        code: Int = CoreDataErrorCode.persistentStoreOperation, into open: StoreFile? = nil,
        whenLocked: () throws -> Void = {}
    ) throws {
        guard !source.isNoFile, FileManager.default.fileExists(atPath: source.path) else { throw missing(source) }
        guard !destination.isNoFile else {
            throw StoreError.unsupported("replacing", storeType: NSInMemoryStoreType, url: destination)
        }
        if source.isSameFile(as: destination) { return try whenLocked() }
        let timeout = StoreSettings(options).timeout
        let from = try StoreFile.openForReading(source)
        // The present state is copied, with the files to which it refers.
        try from.run("read the store") { try from.connection.begin(.deferred) }
        _ = try from.metadata()
        let files = try CopiedFiles(from, to: destination, timeout: timeout)
        let journal = FileJournal(files.target)
        var (isUntouched, isNew) = (true, false)
        do {
            isNew = try StorePermissions(of: source).makeDatabase(destination)
            try journal.note(files.added.map(\.name) + files.superfluous)
            let to = try open ?? StoreFile.open(destination, mode: .create, timeout: timeout)
            try DurableFiles.link(files.added, from: files.source, to: files.target)
            try withCopy(of: from, renaming: files.renamed, pageSize: to.requiredPageSize(), for: destination, timeout)
            {
                copy in
                try to.run("replace", fallback: code) {
                    try copy.connection.copy(to: to.connection) {
                        try whenLocked()
                        isUntouched = false
                    }
                }
            }
            if !files.target.removeUnread(files.superfluous, to.connection) { journal.leaveUnclear() }
        } catch {
            // A commit that failed while writing to the disk may have succeeded nevertheless, and refer to these files.
            if isUntouched { files.target.remove(files.added.map(\.name)) } else { journal.leaveUnclear() }
            if isUntouched, isNew { unlink(destination.path) }
            throw error
        }
    }

    /// Hands out a database, or a copy of it in which files have other names or pages another size, if they need to.
    private static func withCopy(
        of file: StoreFile, renaming names: [String: String], pageSize: Int64?, for destination: URL, _ timeout: Double,
        _ body: (StoreFile) throws -> Void
    ) throws {
        let size = try file.run("read the store") { try file.connection.integer("PRAGMA page_size") }
        let newSize = pageSize == size ? nil : pageSize
        if names.isEmpty, newSize == nil { return try body(file) }
        try MigrationWorkspace.with(destination, .copy, timeout: timeout) { workspace in
            let place = try workspace.place(for: destination, step: 0)
            let copy = try StoreFile.open(place, mode: .create, timeout: timeout)
            try copy.run("copy the store", fallback: CoreDataErrorCode.persistentStoreOperation) {
                try file.connection.copy(to: copy.connection)
                try StoreFunctions.register(on: copy.connection, derived: DerivedValues())
                if let newSize { try copy.connection.setPageSize(newSize) }
                try copy.connection.rename(names)
            }
            try body(copy)
        }
    }
}

/// The files of large values that come to a store with the database of another one, and those that it no longer needs.
private struct CopiedFiles {
    let source: ExternalData
    let target: ExternalData
    /// The new names of files whose names other stores in the target's folder use: each store has its own files.
    let renamed: [String: String]
    /// The files that the target does not have yet, with their names in the source.
    let added: [(original: String, name: String)]
    /// Files that were made by Core Data for the target alone.
    let superfluous: [String]

    init(_ from: StoreFile, to destination: URL, timeout: Double) throws {
        (target, source) = (ExternalData(store: destination), ExternalData(store: from.url))
        var wanted = try source.regularFileNames()
        let isShared = target.isShared
        // Another store's files in the same folder are neither copied nor removed.
        if source.isShared || isShared {
            wanted.formIntersection(
                try from.run("read the store") { try ExternalReferences.names(in: from.connection) })
        }
        let others = target.namesOfSiblings(timeout: timeout)
        let renamed = Dictionary(
            uniqueKeysWithValues: wanted.filter { others?.contains($0) ?? true }.map { ($0, UUID().uuidString) })
        self.renamed = renamed
        var former = try target.fileNames()
        if isShared {
            let names = try? ExternalReferences.names(in: StoreFile.openForReading(destination).connection)
            former.formIntersection((names ?? []).union(wanted.filter { renamed[$0] == nil }))
        }
        var (added, present): ([(original: String, name: String)], Set<String>) = ([], [])
        for original in wanted.sorted() {
            let name = renamed[original] ?? original
            present.insert(name)
            if !former.contains(name) { added.append((original, name)) }
        }
        self.added = added
        superfluous = former.subtracting(present).subtracting(others ?? former)
            .filter { UUID(uuidString: $0) != nil }.sorted()
    }
}

extension StoreFile {
    /// The size of the pages that a database which replaces this one must have; nil for any. SQLite does not change it
    /// in a database with a write-ahead log.
    fileprivate func requiredPageSize() throws -> Int64? {
        try run("read the store") {
            guard try connection.integer("PRAGMA page_count") ?? 0 > 0,
                try connection.string("PRAGMA journal_mode") == "wal"
            else { return nil }
            return try connection.integer("PRAGMA page_size")
        }
    }
}

extension Connection {
    /// Gives the pages another size.
    fileprivate func setPageSize(_ size: Int64) throws {
        let isLogged = try string("PRAGMA journal_mode") == "wal"
        if isLogged { try execute("PRAGMA journal_mode = DELETE") }
        try execute("PRAGMA page_size = \(size); VACUUM")
        if isLogged { try execute("PRAGMA journal_mode = WAL") }
    }

    /// Lets all columns refer to files by other names.
    fileprivate func rename(_ names: [String: String]) throws {
        if names.isEmpty { return }
        try register(function: SQLFunctionName.renamedFile, argumentCount: 1) { arguments in
            let bytes = arguments.data(at: 0) ?? Data()
            return .blob(
                ExternalData.fileName(in: bytes).flatMap { names[$0] }.map(ExternalData.reference) ?? bytes)
        }
        try transaction(.immediate) {
            // Triggers are dropped meanwhile and created again: a new file name is not a change of a value.
            let triggers = try prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name")
            var (drops, creations): ([String], [String]) = ([], [])
            while try triggers.step() {
                drops.append("DROP TRIGGER \(quoted(triggers.string(at: 0)))")
                creations.append(triggers.string(at: 1))
            }
            triggers.reset()
            for drop in drops { try execute(drop) }
            for (table, column) in try ExternalReferences.columns(in: self) {
                let value: SQLFragment = "\(name: column)"
                try run(
                    "UPDATE \(name: table) SET \(value) = \(word: SQLFunctionName.renamedFile)(\(value)) WHERE \(.call(.isInFile, value))"
                )
            }
            for creation in creations { try execute(creation) }
        }
    }
}
