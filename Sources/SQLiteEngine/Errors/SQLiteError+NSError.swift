import CoreDataModel
import Foundation
import SQLiteConnection
import StoreEngine

extension SQLiteError {
    /// What SQLite reported, by an error of the Cocoa domain that was made of it; `nil` where SQLite has no part in it.
    package init?(reportedBy error: NSError) {
        guard let code = error.userInfo[NSSQLiteErrorDomain] as? NSNumber else { return nil }
        self.init(
            extendedCode: code.int32Value, message: error.localizedDescription,
            path: error.userInfo[NSFilePathErrorKey] as? String ?? "")
    }
}
