import CoreData

/// SQLite's primary result codes that are about values: `SQLITE_TOOBIG`, `SQLITE_CONSTRAINT` and `SQLITE_MISMATCH`.
private let codesOfValues: Set<UInt8> = [18, 19, 20]

extension Error {
    /// Whether it says that the store failed (a full disk, a lock, damage), and nothing of the values that were being saved.
    var isOfStore: Bool {
        let error = ((self as? PersistenceError)?.underlying ?? self) as NSError
        guard error.domain == NSCocoaErrorDomain else { return false }
        if let code = (error.userInfo[NSSQLiteErrorDomain] as? NSNumber)?.intValue {
            return !codesOfValues.contains(UInt8(truncatingIfNeeded: code))
        }
        // Others have saved each time; that says nothing of the values, unless there are objects in conflict.
        if error.code == NSManagedObjectMergeError {
            return error.userInfo[NSPersistentStoreSaveConflictsErrorKey] == nil
        }
        // Foundation's errors about files; a store that others keep locked, or have changed so that the model does not fit any more.
        let codes = [
            NSPersistentStoreTimeoutError, NSPersistentStoreIncompatibleSchemaError, NSPersistentStoreOperationError,
            NSPersistentStoreIncompatibleVersionHashError,
        ]
        return (0...1023).contains(error.code) || codes.contains(error.code)
    }
}
