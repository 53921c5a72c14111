import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// The read transactions of a store that query generations keep open.
struct PinnedReaders {
    private struct WeakReader { weak var reader: PinnedReader? }

    private var readers: [WeakReader] = []
    /// The state at which the latest reader was opened: the number of changes made here, and of others' changes.
    private var latestMoment: (own: Int, others: Int64)?

    /// The number of readers in use.
    mutating func count() -> Int {
        readers.removeAll { $0.reader == nil }
        return readers.count
    }

    /// The latest reader, if nothing has been written since.
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
    /// The same store by a connection of its own, in a read transaction that sees everything committed so far; with a
    /// write-ahead log, others continue to write. `nil` for a store without such a log.
    func pinnedReader(timeout: Double) throws -> PinnedReader? {
        guard connection.mode != .memory, connection.mode != .immutable else { return nil }
        while let idle = idleReaders.take() {
            // A reader that cannot begin, or whose file was replaced, is closed.
            guard !idle.connection.isMoved, (try? idle.beginReading()) != nil else { continue }
            return PinnedReader(idle, from: idleReaders)
        }
        guard try connection.string("PRAGMA journal_mode")?.lowercased() == "wal" else { return nil }
        let reading = try StoreFile.open(
            file.url, mode: connection.mode == .traceless ? .traceless : .readOnly, timeout: timeout)
        let derived = DerivedValues()
        return try reading.run("read", fallback: CoreDataErrorCode.persistentStoreOpen) {
            try StoreFunctions.register(on: reading.connection, derived: derived)
            let reader = OpenStore(
                file: reading, schema: schema, identity: identity, external: external, derived: derived, history: nil,
                hasHistory: hasHistory, structureVersion: structureVersion)
            reader.searchIndexes = searchIndexes
            try reader.beginReading()
            return PinnedReader(reader, from: idleReaders)
        }
    }

    /// Begins a read transaction.
    ///
    /// - Throws: `StructureChange` if the file's structure is not the known one.
    private func beginReading() throws {
        try connection.begin(.deferred)
        let version = try versionStatement()
        defer { version.reset() }
        // The transaction begins with the first statement that reads.
        guard try version.step(), version.integer(at: 0) == structureVersion else { throw StructureChange() }
    }
}
