import Foundation
import SQLiteEngine

extension EndingSignals {
    /// Registers a store that is being made, to be removed when a signal ends the program: a part of a copy looks like
    /// a whole store.
    package static func remove(store: URL) {
        let support = ExternalData(store: store).support
        // Another store may have its files there.
        let isNew = !FileManager.default.fileExists(atPath: support.path)
        for url in files(of: store) + (isNew ? [support] : []) { remove(url) }
    }

    /// Unregisters a store that is whole, or gone.
    package static func keep(store: URL) {
        for url in files(of: store) + [ExternalData(store: store).support] { keep(url) }
    }

    private static func files(of store: URL) -> [URL] {
        ["", "-wal", "-shm", "-journal"].map { URL(fileURLWithPath: store.path + $0) }
    }
}
