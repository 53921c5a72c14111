import CompactCollections
import Foundation

/// Writes a folder of files as a whole, since packages of models are folders.
package enum ModelFolder {
    /// Writes the files into a folder beside the destination, which then replaces it; a failure leaves the destination
    /// unchanged.
    ///
    /// - Parameters:
    ///   - files: the contents, by their paths in the folder.
    ///   - destination: the folder to write, with its name.
    /// - Throws: `ModelFileError` if they cannot be written.
    package static func write(_ files: [String: Data], to destination: URL) throws {
        do { try replace(destination, by: files) } catch {
            // Foundation's descriptions name no file.
            throw ModelFileError(
                .unwritable,
                reason: "it cannot be written (\(ModelFileError.withoutPeriod(error.localizedDescription)))")
        }
    }

    private static func replace(_ destination: URL, by files: [String: Data]) throws {
        let manager = FileManager.default
        let parent = destination.deletingLastPathComponent()
        try manager.createDirectory(at: parent, withIntermediateDirectories: true)
        let name = ".\(destination.lastPathComponent)-\(UUID().uuidString)"
        let draft = parent.appendingPathComponent(name)
        let former = parent.appendingPathComponent(name + "-former")
        defer { try? manager.removeItem(at: draft) }
        for (path, data) in files {
            let file = draft.appendingPathComponent(path)
            try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: file)
        }
        let exists = manager.fileExists(atPath: destination.path)
        if exists { try manager.moveItem(at: destination, to: former) }
        do { try manager.moveItem(at: draft, to: destination) } catch {
            if exists { try manager.moveItem(at: former, to: destination) }
            throw error
        }
        // Nothing refers to it any more; if it cannot be removed, it is hidden and harmless.
        if exists { try? manager.removeItem(at: former) }
    }
}
