import CompactCollections
import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension StoreFile {
    /// Opens a store's file.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - mode: whether the file may be written or created.
    ///   - timeout: seconds to wait for another process's lock.
    /// - Returns: the file, with a connection of its own.
    /// - Throws: an `NSError` for a file that cannot be opened, or is not a store.
    package static func open(_ url: URL, mode: OpenMode, timeout: Double = 10) throws -> StoreFile {
        do {
            let file = StoreFile(
                connection: try Connection(path: url.path, mode: mode, busyTimeout: timeout), url: url)
            if StatementLog.isOn {
                file.connection.traceStatements(showsValues: StatementLog.showsValues) {
                    StatementLog.write($0, seconds: $1)
                }
            }
            // SQLite reads the file only now.
            _ = try file.connection.integer("PRAGMA schema_version")
            if mode == .readWrite || mode == .create { try refuseSecondName(url) }
            return file
        } catch let error as SQLiteError where error.isCannotOpen && !FileManager.default.fileExists(atPath: url.path) {
            throw missing(url, mode: mode, error)
        } catch let error as SQLiteError where isFolder(url) {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen, "Cannot open the store “\(url.path)”: it is a folder.", url: url,
                suggestion: "Name a file in it.", underlying: error,
                userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)])
        } catch {
            throw SQLiteStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOpen, work: "open the store", url: url)
        }
    }

    /// SQLite names the write-ahead log after the file. Opened under two names (hard links), the file would have two
    /// logs, and each would lose the changes in the other.
    private static func refuseSecondName(_ url: URL) throws {
        var state = stat()
        guard stat(url.path, &state) == 0, state.st_nlink > 1 else { return }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOpen,
            "The store “\(url.lastPathComponent)” cannot be opened for writing: its file has \(state.st_nlink) names (hard links), "
                + "and what is saved under one of them would be lost under another.", url: url,
            suggestion: "Replace all of them but one by copies, or open it with NSReadOnlyPersistentStoreOption.")
    }

    private static func isFolder(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) && isFolder.boolValue
    }

    private static func missing(_ url: URL, mode: OpenMode, _ error: SQLiteError) -> NSError {
        let folder = url.deletingLastPathComponent()
        let exists = FileManager.default.fileExists(atPath: folder.path)
        if exists, isFolder(folder), case .create = mode {
            return StoreError.make(
                CocoaError.Code.fileWriteNoPermission.rawValue,
                "Cannot make the store “\(url.lastPathComponent)”: its folder “\(folder.path)” cannot be written.",
                url: url, suggestion: "Check the folder's permissions.", underlying: error,
                userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)])
        }
        let what = exists ? "there is no such file" : "there is no folder “\(folder.path)”"
        return StoreError.make(
            CocoaError.Code.fileReadNoSuchFile.rawValue, "Cannot open the store “\(url.lastPathComponent)”: \(what).",
            url: url, underlying: error, userInfo: [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)])
    }

    /// Opens an existing store for reading, in a mode that its folder allows: a read-only folder has no room for the
    /// files of a write-ahead log. What an interrupted program has written is taken back first, unless this process is
    /// to leave no trace.
    package static func openForReading(_ url: URL, timeout: Double = 10) throws -> StoreFile {
        do {
            let file = try open(url, mode: .readOnly, timeout: timeout)
            _ = try file.connection.tableNames()
            return file
        } catch {
            let cause = error as? SQLiteError ?? SQLiteError(reportedBy: error as NSError)
            if let cause, cause.isCannotOpen || cause.isReadOnly, FileManager.default.fileExists(atPath: url.path),
                !OpenMode.readsWithoutTrace
            {
                guard hasContent(url, "-journal") else { return try open(url, mode: .traceless, timeout: timeout) }
                if (try? open(url, mode: .readWrite, timeout: timeout)) != nil {
                    return try open(url, mode: .readOnly, timeout: timeout)
                }
            }
            throw SQLiteStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOpen, work: "open the store", url: url)
        }
    }

    /// Whether there is a file beside a store that is not empty.
    package static func hasContent(_ url: URL, _ suffix: String) -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path + suffix)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0 > 0
    }
}
