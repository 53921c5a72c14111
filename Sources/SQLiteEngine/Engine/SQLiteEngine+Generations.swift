import CoreDataModel
import Foundation
import SQLiteConnection
import StoreEngine

extension SQLiteEngine {
    /// A generation of the store's present content, shared by all callers until something is written.
    func makeGeneration(_ settings: StoreSettings) throws -> PinnedReader? {
        try following { try makeGeneration(of: $0, settings) }
    }

    private func makeGeneration(of store: OpenStore, _ settings: StoreSettings) throws -> PinnedReader? {
        guard !store.connection.isInTransaction || store.locksOutWriters else { return nil }
        let others = try store.changeCount()
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
