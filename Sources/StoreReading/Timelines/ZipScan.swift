import Foundation

/// Finds the stores in a ZIP archive. Each is written into a private folder, with its log, while it is looked at.
struct ZipScan {
    private let path: String
    private let archive: ZipArchive

    /// - Throws: `CommandError` for an archive without its end, where the list of its files is.
    init(_ path: String, _ file: FileBytes) throws {
        guard let archive = ZipArchive(file) else {
            throw CommandError("“\(path)” begins as a ZIP archive, and the list of files at its end is not there")
        }
        (self.path, self.archive) = (path, archive)
    }

    /// Hands out every store; see `StoreScan`.
    func forEachStore(_ unreadable: (String) throws -> Void, _ body: (ScannedStore) throws -> Void) throws {
        // What may belong to a store, by its path, and the lists of backups.
        var (beside, lists): ([String: ZipArchive.Entry], [ZipArchive.Entry]) = ([:], [])
        var encrypted = 0
        let isWhole = archive.forEachEntry { entry in
            if entry.isEncrypted { encrypted += 1 }
            if Self.suffixes.contains(where: entry.name.hasSuffix) { beside[entry.name] = entry }
            if Self.isManifest(entry.name) { lists.append(entry) }
        }
        if !isWhole {
            try unreadable("the list of files in “\(path)” is damaged; those behind the damage are left out")
        }
        if encrypted > 0 {
            let count = TextTools.count(encrypted, "file")
            try unreadable("\(count) in “\(path)” \(encrypted == 1 ? "is" : "are") encrypted, and left out")
        }
        let manifests = try lists.map { ($0, try manifest($0, unreadable)) }
        let logs = manifests.reduce(into: Set<String>()) { $0.formUnion($1.1?.logs ?? []) }
        if !logs.isEmpty {
            _ = archive.forEachEntry { entry in if logs.contains("/" + entry.name) { beside["/" + entry.name] = entry }
            }
        }
        _ = try archive.forEachEntry { entry in
            guard entry.size > 0, !entry.isEncrypted, !Self.suffixes.contains(where: entry.name.hasSuffix) else {
                return
            }
            let start: [UInt8]
            do { start = try archive.start(of: entry, count: 2048) } catch let error as CommandError {
                return try unreadable("“\(path)/\(entry.name)” cannot be read: \(error.message)")
            }
            guard StoreKind(start: Data(start)) != nil else { return }
            let manifest = manifests.first { entry.name.hasPrefix($0.0.name.dropLast(BackupManifest.name.count)) }?.1
            let name = entry.name.split(separator: "/").last.map(String.init) ?? entry.name
            let device = manifest?.entry(of: name)
            let log = device?.logs.first { beside[$0] != nil }
            try hand(
                entry, log: log.flatMap { beside[$0] } ?? beside[entry.name + "-wal"],
                journal: beside[entry.name + "-journal"], unreadable
            ) { store in
                var store = store
                (store.devicePath, store.logPath) = (device?.path, log.map { "\(path)\($0)" })
                try body(store)
            }
        }
    }

    private static let suffixes = ["-wal", "-journal", "-shm"]

    private static func isManifest(_ name: String) -> Bool {
        name == BackupManifest.name || name.hasSuffix("/" + BackupManifest.name)
    }

    private func manifest(
        _ entry: ZipArchive.Entry, _ unreadable: (String) throws -> Void
    ) throws -> BackupManifest? {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent(BackupManifest.name)
        do { try archive.extract(entry, to: url) } catch let error as CommandError {
            try unreadable("“\(path)/\(entry.name)” cannot be read: \(error.message)")
            return nil
        }
        let prefix = "/" + entry.name.dropLast(BackupManifest.name.count)
        return withExtendedLifetime(folder) {
            DatabasePages(path: url.path).flatMap { BackupManifest($0, String(prefix.dropLast())) }
        }
    }

    /// Writes a store and what belongs to it into a private folder, and hands it out.
    private func hand(
        _ entry: ZipArchive.Entry, log: ZipArchive.Entry?, journal: ZipArchive.Entry?,
        _ unreadable: (String) throws -> Void, _ body: (ScannedStore) throws -> Void
    ) throws {
        let folder = try TemporaryFolder()
        let url = folder.url.appendingPathComponent("store")
        do {
            try archive.extract(entry, to: url)
            if let log { try archive.extract(log, to: URL(fileURLWithPath: url.path + "-wal")) }
            if let journal { try archive.extract(journal, to: URL(fileURLWithPath: url.path + "-journal")) }
        } catch let error as CommandError {
            return try unreadable("“\(path)/\(entry.name)” cannot be read: \(error.message)")
        }
        try withExtendedLifetime(folder) {
            guard var store = StoreScan.store(at: url) else { return }
            store.path = "\(path)/\(entry.name)"
            try body(store)
        }
    }
}

extension ScannedStore {
    /// Makes the store readable under one name with its log, which a backup keeps under another.
    ///
    /// - Parameter body: takes the path to read the store at.
    /// - Returns: what `body` returns.
    /// - Throws: `CommandError` if the files cannot be copied; the errors of `body`.
    package func withLog<Result>(_ body: (String) throws -> Result) throws -> Result {
        guard let logPath, url.path == path else { return try body(url.path) }
        let folder = try TemporaryFolder()
        let copy = folder.url.appendingPathComponent("store").path
        return try withExtendedLifetime(folder) {
            do {
                try FileManager.default.copyItem(atPath: url.path, toPath: copy)
                try FileManager.default.copyItem(atPath: logPath, toPath: copy + "-wal")
            } catch { throw CommandError("“\(path)” and its log cannot be copied: \(error.localizedDescription)") }
            return try body(copy)
        }
    }
}
