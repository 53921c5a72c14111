import Foundation
import SQLiteConnection
import StoreEngine

/// The stores that keep their large values in one folder, because only the extensions of their names differ.
extension ExternalData {
    /// The other databases, by their files' names, that may have values in the folder.
    ///
    /// Only SQLite opens them: when a process closes a file, it loses the locks of all its connections to it. The files
    /// that SQLite keeps beside a database are not even looked at.
    private func siblings() -> [URL] {
        let (parent, own) = (store.deletingLastPathComponent(), store.lastPathComponent)
        let stem = store.deletingPathExtension().lastPathComponent
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
        return names.sorted().map(parent.appendingPathComponent).filter { url in
            let name = url.lastPathComponent
            return name != own && url.deletingPathExtension().lastPathComponent == stem
                && !["-wal", "-shm", "-journal"].contains(where: name.hasSuffix) && Self.isDatabase(url)
        }
    }

    private static func isDatabase(_ url: URL) -> Bool {
        if OpenFiles.contains(url.path) { return true }
        var status = stat()
        // SQLite would wait for a pipe.
        guard stat(url.path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { return false }
        do {
            let connection = try Connection(path: url.path, mode: .readOnly, busyTimeout: 0)
            return try !connection.tableNames().isEmpty
        } catch let error as SQLiteError {
            // One that cannot be read at present may be one all the same.
            return !error.isNoDatabase
        } catch { return true }
    }

    /// Whether another store keeps its values in the same folder.
    var isShared: Bool { !siblings().isEmpty }

    /// The names of the files to which the other stores' rows refer.
    ///
    /// - Parameter timeout: seconds to wait for a connection that writes to one of them.
    /// - Returns: the names; nil if one of the stores cannot be read, so that any file may be one of its values.
    func namesOfSiblings(timeout: Double) -> Set<String>? {
        var names: Set<String> = []
        for sibling in siblings() {
            do {
                let file = try StoreFile.openForReading(sibling, timeout: timeout)
                names.formUnion(try ExternalReferences.names(in: file.connection))
            } catch { return nil }
        }
        return names
    }

    /// Removes files to which this store's rows no longer refer, except those of the other stores; missing ones are
    /// ignored.
    ///
    /// - Parameters:
    ///   - names: the files' names.
    ///   - timeout: seconds to wait for a connection that writes to one of the other stores.
    /// - Returns: false if they stay because one of the other stores cannot be read.
    @discardableResult
    package func removeUnshared(_ names: [String], timeout: Double = 0) -> Bool {
        if names.isEmpty { return true }
        guard let others = namesOfSiblings(timeout: timeout) else { return false }
        remove(names.filter { !others.contains($0) })
        return true
    }

    /// The same, unless a connection still reads a state in which rows refer to them.
    ///
    /// - Parameters:
    ///   - names: the files' names.
    ///   - connection: the store's, outside a transaction.
    /// - Returns: false if the files stay.
    @discardableResult
    package func removeUnread(_ names: [String], _ connection: Connection) -> Bool {
        names.isEmpty || connection.hasNoOlderReaders() && removeUnshared(names)
    }
}
