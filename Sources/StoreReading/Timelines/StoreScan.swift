import CoreData
import Foundation
import KeyedArchives
import SQLiteFormat

/// A store that was found by its content, whatever its name.
package struct ScannedStore {
    package let url: URL
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

/// Finds the stores in folders.
package enum StoreScan {
    /// Hands out every store below a folder, or the one that a path names.
    ///
    /// Symbolic links are not followed. Of each file the beginning is read; of an SQLite file, its tables.
    ///
    /// - Parameters:
    ///   - path: a folder or a file.
    ///   - unreadable: takes the paths of what cannot be read.
    ///   - body: takes each store, in the order of the paths.
    /// - Throws: `CommandError` if there is nothing at the path; the errors of `body`.
    package static func forEachStore(
        in path: String, unreadable: (String) throws -> Void = { _ in }, _ body: (ScannedStore) throws -> Void
    ) throws {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw CommandError("“\(path)”: there is no such file or folder") }
        guard facts.st_mode & S_IFMT == S_IFDIR else {
            if let store = store(at: URL(fileURLWithPath: path)) { try body(store) }
            return
        }
        try walk(path, nil, unreadable, body)
    }

    private static func walk(
        _ path: String, _ manifest: BackupManifest?, _ unreadable: (String) throws -> Void,
        _ body: (ScannedStore) throws -> Void
    ) throws {
        // A stack, since folders can be nested deeper than functions.
        var stack = [(path, manifest)]
        while let (folder, outer) = stack.popLast() {
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
                try unreadable(folder)
                continue
            }
            let manifest = names.contains("Manifest.db") ? BackupManifest(folder: folder) ?? outer : outer
            var folders: [String] = []
            for name in names.sorted() {
                let path = "\(folder)/\(name)"
                var facts = stat()
                guard lstat(path, &facts) == 0 else { continue }
                switch facts.st_mode & S_IFMT {
                case S_IFDIR: folders.append(path)
                case S_IFREG:
                    guard access(path, R_OK) == 0 else {
                        try unreadable(path)
                        continue
                    }
                    guard var store = store(at: URL(fileURLWithPath: path)) else { continue }
                    if let entry = manifest?.entry(of: name) {
                        store.devicePath = entry.path
                        store.logPath = entry.log
                    }
                    try body(store)
                default: continue
                }
            }
            stack += folders.reversed().map { ($0, manifest) }
        }
    }

    /// What a file is; nil for one that is not a store of Core Data.
    static func store(at url: URL) -> ScannedStore? {
        guard let file = FileBytes(path: url.path), let kind = StoreKind(start: Data(file.bytes(at: 0, count: 2048)))
        else { return nil }
        guard kind == .sqlite else {
            guard
                let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: kind.type, at: url)
            else { return nil }
            let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
            return ScannedStore(
                url: url, kind: kind, byteCount: Int64(file.count), uuid: metadata[NSStoreUUIDKey] as? String ?? "",
                entities: hashes.keys.sorted().map { ($0, nil) },
                frameworkVersion: (metadata["NSPersistenceFrameworkVersion"] as? NSNumber)?.int64Value,
                versionIdentifiers: metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? [])
        }
        guard let pages = DatabasePages(path: url.path) else { return nil }
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
            url: url, kind: .sqlite, byteCount: byteCount, uuid: uuid, entities: entities.sorted { $0.name < $1.name },
            frameworkVersion: list["NSPersistenceFrameworkVersion"]?.integerValue,
            versionIdentifiers: (list["NSStoreModelVersionIdentifiers"]?.arrayValue ?? []).compactMap(\.stringValue))
    }
}

/// The names that the files of an iOS backup have on the device: `Manifest.db` has them by the names in the backup.
private final class BackupManifest {
    private var paths: [String: String] = [:]
    private var names: [String: String] = [:]
    private let folder: String

    /// How many files of a backup are remembered.
    private static let mostFiles = 1_000_000

    init?(folder: String) {
        self.folder = folder
        guard let pages = DatabasePages(path: folder + "/Manifest.db"),
            let files = TableShape.all(in: pages).first(where: { $0.name == "Files" })
        else { return nil }
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

    func entry(of name: String) -> (path: String, log: String?)? {
        guard let path = paths[name] else { return nil }
        let log = names[path + "-wal"].map { name in
            let nested = "\(folder)/\(name.prefix(2))/\(name)"
            return FileManager.default.fileExists(atPath: nested) ? nested : "\(folder)/\(name)"
        }
        return (path, log)
    }
}
