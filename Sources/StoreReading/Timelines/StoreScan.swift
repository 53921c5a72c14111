import CoreData
import Foundation
import ModelFiles

/// A store that was found by its content, whatever its name.
package struct ScannedStore {
    /// Where it can be read; for one in an archive only while it is handed out.
    package let url: URL
    /// Its path, for people: “case.zip/Library/Notes.sqlite” in an archive.
    package internal(set) var path: String
    package let kind: StoreKind
    package let byteCount: Int64
    package let uuid: String
    /// The entities, with how many objects each has; nil where that is not known without reading all.
    package let entities: [(name: String, count: Int?)]
    package let frameworkVersion: Int64?
    package let versionIdentifiers: [String]
    /// Where it was on the device that an iOS backup is of: the domain and the path in it.
    package internal(set) var devicePath: String?
    /// Its write-ahead log, which a backup keeps under another name.
    package internal(set) var logPath: String?
}

/// Finds the stores in folders and ZIP archives.
package enum StoreScan {
    /// Hands out every store below a folder, in an archive, or the one that a path names.
    ///
    /// Symbolic links are not followed. Of each file the beginning is read; of an SQLite file, its tables.
    ///
    /// - Parameters:
    ///   - path: a folder, an archive or a file.
    ///   - unreadable: takes what cannot be read, as sentences without their final periods.
    ///   - body: takes each store, in the order of the paths.
    /// - Throws: `CommandError` if there is nothing at the path; the errors of `body`.
    package static func forEachStore(
        in path: String, unreadable: (String) throws -> Void = { _ in }, _ body: (ScannedStore) throws -> Void
    ) throws {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw CommandError("“\(path)”: there is no such file or folder") }
        guard facts.st_mode & S_IFMT == S_IFDIR else {
            if let file = FileBytes(path: path), ZipArchive.isArchive(file.bytes(at: 0, count: 4)) {
                return try ZipScan(path, file).forEachStore(unreadable, body)
            }
            if let store = store(at: URL(fileURLWithPath: path)) { try body(store) }
            return
        }
        try walk(path, nil, unreadable, body)
    }

    /// Whether a path is that of a folder or an archive, in which there may be several stores.
    package static func hasMany(_ path: String) -> Bool {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return false }
        if facts.st_mode & S_IFMT == S_IFDIR { return true }
        return FileBytes(path: path).map { ZipArchive.isArchive($0.bytes(at: 0, count: 4)) } ?? false
    }

    private static func walk(
        _ path: String, _ manifest: BackupManifest?, _ unreadable: (String) throws -> Void,
        _ body: (ScannedStore) throws -> Void
    ) throws {
        // A stack, since folders can be nested deeper than functions.
        var stack = [(path, manifest)]
        while let (folder, outer) = stack.popLast() {
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
                try unreadable("“\(folder)” cannot be read")
                continue
            }
            let manifest =
                names.contains(BackupManifest.name)
                ? DatabasePages(path: "\(folder)/\(BackupManifest.name)").flatMap { BackupManifest($0, folder) }
                    ?? outer
                : outer
            var folders: [String] = []
            for name in names.sorted() {
                let path = "\(folder)/\(name)"
                var facts = stat()
                guard lstat(path, &facts) == 0 else { continue }
                switch facts.st_mode & S_IFMT {
                case S_IFDIR: folders.append(path)
                case S_IFREG:
                    guard access(path, R_OK) == 0 else {
                        try unreadable("“\(path)” cannot be read")
                        continue
                    }
                    let entry = manifest?.entry(of: name)
                    let log = entry?.logs.first { FileManager.default.fileExists(atPath: $0) }
                    guard var store = store(at: URL(fileURLWithPath: path), log: log) else { continue }
                    (store.devicePath, store.logPath) = (entry?.path, log)
                    try body(store)
                default: continue
                }
            }
            stack += folders.reversed().map { ($0, manifest) }
        }
    }

    /// What a file is; nil for one that is not a store of Core Data.
    ///
    /// - Parameters:
    ///   - url: the file.
    ///   - log: its write-ahead log, where it has another name than usual.
    /// - Returns: what is known of the store.
    static func store(at url: URL, log: String? = nil) -> ScannedStore? {
        guard let file = FileBytes(path: url.path), let kind = StoreKind(start: Data(file.bytes(at: 0, count: 2048)))
        else { return nil }
        guard kind == .sqlite else {
            guard
                let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: url)
            else { return nil }
            let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
            return ScannedStore(
                url: url, path: url.path, kind: kind, byteCount: Int64(file.count),
                uuid: metadata[NSStoreUUIDKey] as? String ?? "",
                entities: hashes.keys.sorted().map { ($0, nil) },
                frameworkVersion: (metadata["NSPersistenceFrameworkVersion"] as? NSNumber)?.int64Value,
                versionIdentifiers: metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? [])
        }
        let frames = FileBytes(path: log ?? url.path + "-wal").flatMap { WriteAheadLog($0) }
        guard let pages = DatabasePages(file, frames) else { return nil }
        return store(url, Int64(file.count), pages)
    }

    private static func store(_ url: URL, _ byteCount: Int64, _ pages: DatabasePages) -> ScannedStore? {
        let shapes = TableShape.all(in: pages)
        let byName = Dictionary(shapes.map { ($0.name.uppercased(), $0) }, uniquingKeysWith: { first, _ in first })
        guard let numbers = byName["Z_PRIMARYKEY"] else { return nil }
        var entities: [(name: String, count: Int?)] = []
        pages.forEachRow(of: numbers.root) { key, record, _ in
            // The history's own entities are numbered from 16,000 on.
            guard key < 16_000, let place = numbers.columns.firstIndex(where: { $0.name == "Z_NAME" }),
                place < record.values.count, let name = record.values[place]?.string(pages.header.encoding)
            else { return }
            var count: Int?
            if let table = byName["Z" + name.uppercased()] {
                count = 0
                pages.forEachPage(of: table.root) { _, page in
                    if page.kind == .tableLeaf { count? += page.cells.count }
                    return true
                }
            }
            entities.append((name, count))
        }
        var (uuid, list) = ("", [String: PropertyList]())
        if let metadata = byName["Z_METADATA"] {
            pages.forEachRow(of: metadata.root) { _, record, _ in
                for (column, value) in zip(metadata.columns, record.values) {
                    switch (column.name, value) {
                    case ("Z_UUID", let value?): uuid = value.string(pages.header.encoding) ?? uuid
                    case ("Z_PLIST", .blob(let bytes)?):
                        list = ((try? PropertyList(data: Data(bytes))) ?? nil)?.dictionaryValue ?? list
                    default: continue
                    }
                }
            }
        }
        return ScannedStore(
            url: url, path: url.path, kind: .sqlite, byteCount: byteCount, uuid: uuid,
            entities: entities.sorted { $0.name < $1.name },
            frameworkVersion: list["NSPersistenceFrameworkVersion"]?.integerValue,
            versionIdentifiers: (list["NSStoreModelVersionIdentifiers"]?.arrayValue ?? []).compactMap(\.stringValue))
    }
}

/// The names that the files of an iOS backup have on the device: `Manifest.db` has them by the names in the backup.
final class BackupManifest {
    static let name = "Manifest.db"

    private var paths: [String: String] = [:]
    private var names: [String: String] = [:]
    private let folder: String

    /// How many files of a backup are remembered.
    private static let mostFiles = 1_000_000

    /// - Parameters:
    ///   - pages: the pages of `Manifest.db`.
    ///   - folder: the path of its folder.
    init?(_ pages: DatabasePages, _ folder: String) {
        self.folder = folder
        guard let files = TableShape.all(in: pages).first(where: { $0.name == "Files" }) else { return nil }
        let places = ["fileID", "domain", "relativePath"].map { name in
            files.columns.firstIndex { $0.name == name } ?? .max
        }
        pages.forEachRow(of: files.root) { _, record, _ in
            let texts = places.map { place in
                place < record.values.count ? record.values[place]?.string(pages.header.encoding) : nil
            }
            guard paths.count < Self.mostFiles, let name = texts[0], let domain = texts[1], let path = texts[2] else {
                return
            }
            paths[name] = "\(domain)/\(path)"
            // Only logs are looked for by their paths.
            if path.hasSuffix("-wal") { names["\(domain)/\(path)"] = name }
        }
    }

    /// The paths at which logs can be.
    var logs: Set<String> { Set(names.values.flatMap(places)) }

    /// Where a file was on the device, and the paths at which its log can be.
    func entry(of name: String) -> (path: String, logs: [String])? {
        paths[name].map { ($0, names[$0 + "-wal"].map(places) ?? []) }
    }

    /// Newer backups have a folder for the first two characters of a name.
    private func places(_ name: String) -> [String] { ["\(folder)/\(name.prefix(2))/\(name)", "\(folder)/\(name)"] }
}
