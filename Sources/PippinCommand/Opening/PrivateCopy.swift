import Foundation

/// A copy of a store in a private folder, which goes when the copy does.
///
/// SQLite writes beside a database even to read it, when that has a write-ahead log. The copy takes the log along, so
/// what is only there is seen too, and the store itself stays untouched.
final class PrivateCopy {
    /// The copy.
    let url: URL
    private let folder: URL

    /// Copies a store.
    ///
    /// - Throws: `CommandError` when the file is missing, no store, or cannot be read or copied.
    init(of original: URL) throws {
        _ = try StoreKind(of: original)
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-\(UUID().uuidString)")
        url = folder.appendingPathComponent(original.lastPathComponent)
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandError(
                "cannot make the folder “\(folder.path)” for a copy of the store: \(error.localizedDescription)")
        }
        do {
            try copy(original)
        } catch {
            try? FileManager.default.removeItem(at: folder)
            throw error
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Copies the database, its log or journal, and leads to its external data. Starts over when another process writes
    /// meanwhile.
    private func copy(_ original: URL) throws {
        for _ in 0..<20 {
            let before = Self.fingerprint(of: original)
            for suffix in ["", "-wal", "-journal"] {
                let source = original.path + suffix
                let destination = url.path + suffix
                try? FileManager.default.removeItem(atPath: destination)
                guard suffix.isEmpty || FileManager.default.fileExists(atPath: source) else { continue }
                do {
                    try FileManager.default.copyItem(
                        atPath: URL(fileURLWithPath: source).resolvingSymlinksInPath().path, toPath: destination)
                    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: destination)
                } catch {
                    throw CommandError("“\(source)” cannot be copied: \(error.localizedDescription)")
                }
            }
            if before == Self.fingerprint(of: original) {
                linkExternalData(of: original)
                return
            }
            Thread.sleep(forTimeInterval: 0.05)
        }
        throw CommandError("“\(original.path)” is being written without a pause; try again later")
    }

    /// Large values lie in files of a folder beside the store; reading needs no copy of them.
    private func linkExternalData(of original: URL) {
        let name = ".\(original.deletingPathExtension().lastPathComponent)_SUPPORT"
        let support = original.deletingLastPathComponent().appendingPathComponent(name)
        guard FileManager.default.fileExists(atPath: support.path) else { return }
        try? FileManager.default.createSymbolicLink(
            at: folder.appendingPathComponent(name), withDestinationURL: support.absoluteURL)
    }

    /// What changes when somebody writes: sizes and times of the files.
    private static func fingerprint(of original: URL) -> [String] {
        ["", "-wal", "-journal"].map { suffix in
            let attributes = try? FileManager.default.attributesOfItem(atPath: original.path + suffix)
            let time = (attributes?[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate
            return "\(attributes?[.size] ?? "none") \(time ?? 0)"
        }
    }
}
