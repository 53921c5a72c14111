import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// The read transactions of a store that are kept open for query generations.
struct PinnedReaders {
    private struct WeakReader { weak var reader: PinnedReader? }

    private var readers: [WeakReader] = []
    /// What the latest reader was opened after: changes made here, and changes that others made.
    private var latestMoment: (own: Int, others: Int64)?

    /// How many readers are in use.
    mutating func count() -> Int {
        readers.removeAll { $0.reader == nil }
        return readers.count
    }

    /// The latest reader, if nothing was written since.
    func latest(own: Int, others: Int64) -> PinnedReader? {
        guard let latestMoment, latestMoment == (own, others) else { return nil }
        return readers.last?.reader
    }

    mutating func add(_ reader: PinnedReader, own: Int, others: Int64) {
        readers.append(WeakReader(reader: reader))
        latestMoment = (own, others)
    }
}

extension OpenStore {
    /// The same store through a connection of its own, in a read transaction that sees what has been committed so far: in a
    /// write-ahead log, others go on writing beside it. `nil` for a store that has no such log.
    func pinnedReader(timeout: Double) throws -> PinnedReader? {
        guard connection.mode != .memory, connection.mode != .immutable else { return nil }
        while let idle = idleReaders.take() {
            // One that cannot go on, or reads a file that is another one now, is closed.
            guard !idle.connection.isMoved, (try? idle.beginReading()) != nil else { continue }
            return PinnedReader(idle, from: idleReaders)
        }
        guard try connection.string("PRAGMA journal_mode")?.lowercased() == "wal" else { return nil }
        let reading = try StoreFile.open(file.url, mode: .readOnly, timeout: timeout)
        let derived = DerivedValues()
        return try reading.run("read", fallback: CoreDataErrorCode.persistentStoreOpen) {
            try StoreFunctions.register(on: reading.connection, derived: derived)
            let reader = OpenStore(
                file: reading, schema: schema, identity: identity, external: external, derived: derived, history: nil,
                hasHistory: hasHistory, structureVersion: structureVersion)
            try reader.beginReading()
            return PinnedReader(reader, from: idleReaders)
        }
    }

    /// Begins a transaction that reads.
    ///
    /// - Throws: `StructureChange` where the file's structure is not the one that is known.
    private func beginReading() throws {
        try connection.begin(.deferred)
        let version = try versionStatement()
        defer { version.reset() }
        // The transaction begins with the first statement that reads.
        guard try version.step(), version.integer(at: 0) == structureVersion else { throw StructureChange() }
    }
}
