import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// The read transactions of a store that are kept open for query generations.
struct PinnedReaders {
    private struct WeakReader { weak var reader: OpenStore? }

    private var readers: [WeakReader] = []
    /// What the latest reader was opened after: changes made here, and changes that others made.
    private var latestMoment: (own: Int, others: Int64)?

    /// How many readers are in use.
    mutating func count() -> Int {
        readers.removeAll { $0.reader == nil }
        return readers.count
    }

    /// The latest reader, if nothing was written since.
    func latest(own: Int, others: Int64) -> OpenStore? {
        guard let latestMoment, latestMoment == (own, others) else { return nil }
        return readers.last?.reader
    }

    mutating func add(_ reader: OpenStore, own: Int, others: Int64) {
        readers.append(WeakReader(reader: reader))
        latestMoment = (own, others)
    }
}

extension OpenStore {
    /// The same store through a connection of its own, in a read transaction that sees what has been committed so far: in a
    /// write-ahead log, others go on writing beside it. `nil` for a store that has no such log.
    func pinnedReader(timeout: Double) throws -> OpenStore? {
        guard connection.mode != .memory, connection.mode != .immutable,
            try connection.string("PRAGMA journal_mode")?.lowercased() == "wal"
        else { return nil }
        let reading = try StoreFile.open(file.url, mode: .readOnly, timeout: timeout)
        let derived = DerivedValues()
        return try reading.run("read", fallback: CoreDataErrorCode.persistentStoreOpen) {
            try StoreFunctions.register(on: reading.connection, derived: derived)
            try reading.connection.begin(.deferred)
            // The transaction begins with the first statement that reads.
            _ = try reading.connection.integer(StoreTablesSQL.version)
            guard try reading.connection.integer("PRAGMA schema_version") == structureVersion else {
                throw StructureChange()
            }
            return OpenStore(
                file: reading, schema: schema, identity: identity, external: external, derived: derived, history: nil,
                hasHistory: hasHistory, structureVersion: structureVersion)
        }
    }
}

extension SQLiteEngine {
    /// A generation of what the store holds now, one for all who ask until something is written.
    func makeGeneration(_ settings: StoreSettings) throws -> OpenStore? {
        try following { try makeGeneration(of: $0, settings) }
    }

    private func makeGeneration(of store: OpenStore, _ settings: StoreSettings) throws -> OpenStore? {
        guard !store.connection.isInTransaction || store.keepsOthersOut else { return nil }
        let others = try store.connection.integer("PRAGMA data_version") ?? 0
        if let known = readers.latest(own: writeCount, others: others) { return known }
        guard readers.count() < settings.maximumReaders else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "The store “\(store.file.url.lastPathComponent)” has \(settings.maximumReaders) query generations pinned "
                    + "already; no more can be.", url: store.file.url,
                suggestion: "Let contexts and tokens go, or raise NSPersistentStoreConnectionPoolMaxSizeKey.")
        }
        guard let reader = try store.pinnedReader(timeout: settings.timeout) else { return nil }
        readers.add(reader, own: writeCount, others: others)
        return reader
    }
}
