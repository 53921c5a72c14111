import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Records which files of external data a transaction adds and which it makes superfluous, before it does so. If the
/// process is killed, the note stays, and the next one that opens the store removes the noted files to which no row
/// refers.
///
/// Files that are in no note are never touched: they belong to another store, or are of an unknown kind. A locked note
/// belongs to a living process, and is left alone.
package final class FileJournal {
    private let external: ExternalData
    private var file: (descriptor: Int32, url: URL)?
    /// Whether it is unknown how a transaction ended: the note then stays for the next process.
    private var isUnclear = false
    /// Superfluous files that other connections may still read. They stay noted.
    var unread: [String] = []

    package init(_ external: ExternalData) { self.external = external }

    deinit {
        guard let file else { return }
        if !isUnclear, unread.isEmpty { unlink(file.url.path) }
        close(file.descriptor)
    }

    /// Records files that are about to be written, or to become superfluous.
    package func note(_ names: [String]) throws {
        guard !names.isEmpty else { return }
        let file = try openedFile()
        let text = Data(names.map { $0 + "\n" }.joined().utf8)
        // Not synchronized with the disk: if the machine stops, the worst result is unused files.
        let count = text.withUnsafeBytes { write(file.descriptor, $0.baseAddress, $0.count) }
        guard count == text.count else { throw StorePermissions.error(file.url, "written", errno) }
    }

    /// Called when all transactions have ended, and the files are as they should be.
    func settle() {
        guard let file, !isUnclear else { return }
        ftruncate(file.descriptor, 0)
        lseek(file.descriptor, 0, SEEK_SET)
        // Files without a note would stay for good, which is the worst result.
        try? note(unread)
    }

    /// Called when a transaction may or may not have succeeded.
    package func leaveUnclear() { isUnclear = true }

    private func openedFile() throws -> (descriptor: Int32, url: URL) {
        if let file {
            var status = stat()
            // The note is gone if the store was destroyed.
            if fstat(file.descriptor, &status) == 0, status.st_nlink > 0 { return file }
            close(file.descriptor)
            self.file = nil
        }
        try external.makeFolders()
        let permissions = StorePermissions(of: external.store)
        while true {
            let url = external.support.appendingPathComponent(Self.prefix(external.store) + UUID().uuidString)
            let descriptor = try permissions.makeFile(url)
            // Another process may have found the note before it was locked, and taken it for a leftover.
            do {
                if try FileLock.take(descriptor, url) {
                    file = (descriptor, url)
                    return (descriptor, url)
                }
            } catch {
                unlink(url.path)
                close(descriptor)
                throw error
            }
            close(descriptor)
        }
    }

    /// Stores whose names differ only in the extension share the folder.
    private static func prefix(_ store: URL) -> String { ".pending.\(store.lastPathComponent)." }

    // MARK: After a kill

    /// Removes the leftovers of killed processes. Nothing happens while the store is being written; the next opening
    /// tries again.
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
            guard (try? FileLock.take(descriptor, url)) == true, let text = text(of: descriptor) else {
                close(descriptor)
                continue
            }
            left.append((descriptor, url))
            // The last line may be truncated; its file was not written then.
            names.formUnion(text.split(separator: "\n").map(String.init).filter { UUID(uuidString: $0) != nil })
        }
        guard !left.isEmpty else { return }
        var isDone = true
        if !names.isEmpty {
            guard connection.hasNoOlderReaders() else { return }
            // No other connection writes meanwhile, and this does not block.
            try connection.withoutWaiting {
                try connection.transaction(.immediate) {
                    // Files that cannot be removed yet are tried again at the next opening.
                    isDone = external.removeUnshared(
                        names.subtracting(try ExternalReferences.names(in: connection)).sorted())
                }
            }
        }
        if isDone { for note in left { unlink(note.url.path) } }
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
    /// The names of all files that any column of any table refers to, including columns that no model knows.
    static func names(in connection: Connection) throws -> Set<String> {
        var names: Set<String> = []
        try forEach(in: connection) { names.insert($0) }
        return names
    }

    /// Hands out the name of the file to which each value refers.
    static func forEach(in connection: Connection, _ body: (String) -> Void) throws {
        for (table, column) in try columns(in: connection) {
            let values = try connection.prepare(ExternalFileSQL.references(column, in: table))
            while try values.step() {
                if let name = ExternalData.fileName(in: values.data(at: 0)) { body(name) }
            }
        }
    }

    /// All columns of all tables.
    static func columns(in connection: Connection) throws -> [(table: String, column: String)] {
        // Virtual tables have no pages of their own.
        let statement = try connection.prepare(
            "SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                + "WHERE m.type = 'table' AND m.rootpage > 0 AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        var columns: [(table: String, column: String)] = []
        while try statement.step() { columns.append((statement.string(at: 0), statement.string(at: 1))) }
        return columns
    }
}
