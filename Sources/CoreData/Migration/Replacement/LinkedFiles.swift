import Foundation
import SQLiteConnection

/// Files of external data that two stores share, and stores that are copied with them.
enum LinkedFiles {
    /// Gives one store the files of another, which keeps them: such a file is never changed in place.
    static func link(_ names: [String], from source: ExternalData, to target: ExternalData) throws {
        guard !names.isEmpty else { return }
        try FileManager.default.createDirectory(at: target.folder, withIntermediateDirectories: true)
        for name in names {
            try DurableFiles.link(
                source.folder.appendingPathComponent(name), to: target.folder.appendingPathComponent(name))
        }
        try DurableFiles.synchronize(target.folder)
        try DurableFiles.synchronize(target.support)
    }

    /// Makes a second store of a store's database and files.
    static func copyStore(_ store: URL, to copy: URL, timeout: Double) throws {
        let from = try StoreFile.openForReading(store, timeout: timeout)
        let to = try StoreFile.open(copy, mode: .create, timeout: timeout)
        try to.run("copy", fallback: CoreDataErrorCode.migration) { try from.connection.copy(to: to.connection) }
        let (old, new) = (ExternalData(store: store), ExternalData(store: copy))
        guard FileManager.default.fileExists(atPath: old.folder.path) else { return }
        try link(FileManager.default.contentsOfDirectory(atPath: old.folder.path).sorted(), from: old, to: new)
    }
}
