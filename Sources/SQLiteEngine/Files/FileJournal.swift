import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Notes which files of external data a transaction adds and which it makes superfluous, before it does: a process that is
/// killed leaves the note, and the next one that opens the store removes of these files what no row refers to.
///
/// Files that no note names are never touched: they are another store's, or of a kind that is not known here. A note that is
/// locked is of a living process, and left alone.
package final class FileJournal {
    private let external: ExternalData
    private var file: (descriptor: Int32, url: URL)?
    /// Whether nobody knows how a transaction ended: the note stays for the next process.
    private var isUnclear = false

    package init(_ external: ExternalData) { self.external = external }

    deinit {
        guard let file else { return }
        if !isUnclear { unlink(file.url.path) }
        close(file.descriptor)
    }

    /// Notes files that are about to be written, or to become superfluous.
    package func note(_ names: [String]) throws {
        guard !names.isEmpty else { return }
        let file = try openedFile()
        let text = Data(names.map { $0 + "\n" }.joined().utf8)
        // Not for the disk: what a machine that stops leaves are files too many, at worst.
        let count = text.withUnsafeBytes { write(file.descriptor, $0.baseAddress, $0.count) }
        guard count == text.count else { throw StorePermissions.error(file.url, "written", errno) }
    }

    /// All transactions have ended, and the files are as they should be.
    func settle() {
        guard let file, !isUnclear else { return }
        ftruncate(file.descriptor, 0)
        lseek(file.descriptor, 0, SEEK_SET)
    }

    /// A transaction may have come through, and may not have.
    func leaveUnclear() { isUnclear = true }

    private func openedFile() throws -> (descriptor: Int32, url: URL) {
        if let file {
            var status = stat()
            // It is gone where the store was destroyed.
            if fstat(file.descriptor, &status) == 0, status.st_nlink > 0 { return file }
            close(file.descriptor)
            self.file = nil
        }
        try external.makeFolders()
        let permissions = StorePermissions(of: external.store)
        while true {
            let url = external.support.appendingPathComponent(Self.prefix(external.store) + UUID().uuidString)
            let descriptor = try permissions.makeFile(url)
            // Another process may have found the file before it was locked, and taken it for one that is left over.
            if FileLock.take(descriptor, url) {
                file = (descriptor, url)
                return (descriptor, url)
            }
            close(descriptor)
        }
    }

    /// Stores whose names differ in the extension only share the folder.
    private static func prefix(_ store: URL) -> String { ".pending.\(store.lastPathComponent)." }

    // MARK: After a kill

    /// Removes what killed processes left. Nothing happens while the store is being written; the next to open it comes by here, too.
    static func removeLeftovers(of external: ExternalData, _ connection: Connection) throws {
        let prefix = prefix(external.store)
        let notes = ((try? FileManager.default.contentsOfDirectory(atPath: external.support.path)) ?? []).filter {
            $0.hasPrefix(prefix) && UUID(uuidString: String($0.dropFirst(prefix.count))) != nil
        }
        guard !notes.isEmpty else { return }
        var left: [(descriptor: Int32, url: URL)] = []
        defer { for note in left { close(note.descriptor) } }
        var names: Set<String> = []
        for note in notes {
            let url = external.support.appendingPathComponent(note)
            let descriptor = open(url.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            guard FileLock.take(descriptor, url), let text = text(of: descriptor) else {
                close(descriptor)
                continue
            }
            left.append((descriptor, url))
            // The last line may be cut off; its file was not written then.
            names.formUnion(text.split(separator: "\n").map(String.init).filter { UUID(uuidString: $0) != nil })
        }
        guard !left.isEmpty else { return }
        if !names.isEmpty {
            // Nobody else writes meanwhile, and nobody waits for this.
            try connection.withoutWaiting {
                try connection.transaction(.immediate) {
                    external.remove(names.subtracting(try ExternalReferences.names(in: connection)).sorted())
                }
            }
        }
        for note in left { unlink(note.url.path) }
    }

    private static func text(of descriptor: Int32) -> String? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        return String(decoding: (try? handle.readToEnd()) ?? Data(), as: UTF8.self)
    }
}

/// The files that a store's rows refer to.
enum ExternalReferences {
    /// The names of all files that any column of any table refers to, also columns that no model knows.
    static func names(in connection: Connection) throws -> Set<String> {
        var names: Set<String> = []
        try forEach(in: connection) { names.insert($0) }
        return names
    }

    /// Hands out the name of the file that each value refers to.
    static func forEach(in connection: Connection, _ body: (String) -> Void) throws {
        // Virtual tables have no pages of their own.
        let columns = try connection.prepare(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                + "WHERE m.type = 'table' AND m.rootpage > 0 AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        while try columns.step() {
            let values = try connection.prepare(
                ExternalFileSQL.references(columns.string(at: 1), in: columns.string(at: 0)))
            while try values.step() {
                if let name = ExternalData.fileName(in: values.data(at: 0)) { body(name) }
            }
        }
    }
}
