import CoreDataModel
import Foundation
import SQLiteConnection
import StoreEngine

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
