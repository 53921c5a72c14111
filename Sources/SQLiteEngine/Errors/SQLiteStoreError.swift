import CoreDataModel
import Foundation
import SQLiteConnection
import StoreEngine

/// Converts SQLite's errors to Core Data's: in the Cocoa domain, with SQLite's code under `NSSQLiteErrorDomain`.
package enum SQLiteStoreError {
    /// The error for a failure while using a store.
    ///
    /// - Parameters:
    ///   - error: the failure.
    ///   - fallback: Core Data's code for the work, used if SQLite's code is not more specific.
    ///   - work: the work, for the message: "open the store".
    ///   - url: the location of the store.
    /// - Returns: an `NSError` in the Cocoa domain for an error of SQLite's; any other error unchanged.
    package static func make(_ error: any Error, fallback: Int, work: String, url: URL) -> any Error {
        guard let error = error as? SQLiteError else { return error }
        let (code, reason, suggestion) = meaning(of: error, fallback: fallback)
        var info: [String: Any] = [NSSQLiteErrorDomain: NSNumber(value: error.extendedCode)]
        // SQLite does not say then whether the last commit succeeded.
        if error.isInputOutput { info[StoreError.uncertaintyKey] = true }
        return StoreError.make(
            code, "Cannot \(work) \(url.storeName): \(reason).", url: url, suggestion: suggestion,
            underlying: underlying(error), userInfo: info)
    }

    private static func meaning(of error: SQLiteError, fallback: Int) -> (Int, String, String?) {
        if error.isCorrupt {
            let code = CocoaError.Code.fileReadCorruptFile.rawValue
            return (code, "the file is damaged or no SQLite database (\(error.message))", "Restore it from a backup.")
        }
        if error.isBusy {
            return (
                CoreDataErrorCode.persistentStoreTimeout, "another process has locked it (\(error.message))",
                "Try again, or give it more time with NSPersistentStoreTimeoutOption."
            )
        }
        if error.isFull {
            let code = CocoaError.Code.fileWriteOutOfSpace.rawValue
            return (code, "the disk is full; nothing was changed", "Make room and try again.")
        }
        if error.isReadOnly {
            let code = CocoaError.Code.fileWriteNoPermission.rawValue
            return (code, "the file or its folder cannot be written (\(error.message))", "Check the permissions.")
        }
        let isParserFull = error.message.contains("parser stack overflow")
        if isParserFull || error.message.hasPrefix("Expression tree is too large") {
            // The other message names its own limit.
            let limit = isParserFull ? ", which is some thirty levels of AND and OR in turns" : ""
            return (
                fallback, "the predicate or expression nests deeper than SQLite can read\(limit) (\(error.message))",
                "Put fewer of them into each other; side by side, there may be many."
            )
        }
        if error.message == "integer overflow" {
            return (
                fallback, "a sum is wider than 64 bits (\(error.message))",
                "Add fewer objects up at once, or an attribute of the type Double or Decimal."
            )
        }
        if error.message.hasPrefix("too many columns on") {
            return (
                fallback, "a table of SQLite's has at most 2,000 columns (\(error.message))",
                "Subentities share the table of their parent: give some of them no parent, or move attributes to an "
                    + "entity of their own, to which a relationship leads."
            )
        }
        return (fallback, error.message, nil)
    }

    private static func underlying(_ error: SQLiteError) -> NSError {
        var info: [String: Any] = [NSLocalizedDescriptionKey: error.message, NSFilePathErrorKey: error.path]
        if let sql = error.sql { info["SQL"] = sql }
        return NSError(domain: NSSQLiteErrorDomain, code: Int(error.extendedCode), userInfo: info)
    }

    static func readOnly(_ url: URL, reason: String) -> NSError {
        StoreError.make(
            CocoaError.Code.fileWriteNoPermission.rawValue,
            "Cannot save to “\(url.lastPathComponent)”, which is open for reading only\(reason).", url: url)
    }
}

extension SQLiteError {
    /// The SQLite error from which an error of the Cocoa domain was made; `nil` if there is none.
    package init?(reportedBy error: NSError) {
        guard let code = error.userInfo[NSSQLiteErrorDomain] as? NSNumber else { return nil }
        self.init(
            extendedCode: code.int32Value, message: error.localizedDescription,
            path: error.userInfo[NSFilePathErrorKey] as? String ?? "")
    }
}

/// What a program shows that reads a file with SQL of its own.
extension SQLiteError: LocalizedError {
    package var errorDescription: String? {
        isCorrupt ? "The database is damaged (\(message))." : "The database cannot be used: \(message)."
    }
}
