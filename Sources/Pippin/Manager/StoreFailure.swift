import StoreSession

/// SQLite's primary result codes for errors of values: `SQLITE_TOOBIG`, `SQLITE_CONSTRAINT` and `SQLITE_MISMATCH`.
private let codesOfValues: Set<UInt8> = [18, 19, 20]

/// The errors that prevent a store from being opened.
private let codesOfOpening: Set<PersistenceError.Code> = [
    .notLoaded, .closed, .storeNotFound, .folderNotFound, .notOpened, .schemaChanged, .wouldLose, .notUnique,
    .modelNotFound, .modelNotReadable, .bundleNotFound, .notDerivable, .unknownStoreVersion, .migrationFailed,
]

extension Error {
    /// Whether the error says that the store failed (a full disk, a lock, damage) or cannot be opened, rather than that
    /// the saved values are at fault.
    var isOfStore: Bool {
        if let code = (self as? PersistenceError)?.code, codesOfOpening.contains(code) { return true }
        let error = ((self as? PersistenceError)?.underlying ?? self) as NSError
        guard error.domain == NSCocoaErrorDomain else { return false }
        if let isOfStore = error.userInfo[StoreError.isOfStoreKey] as? Bool { return isOfStore }
        if let code = (error.userInfo[NSSQLiteErrorDomain] as? NSNumber)?.intValue {
            return !codesOfValues.contains(UInt8(truncatingIfNeeded: code))
        }
        // Others have saved each time. That is not about the values, unless objects are in conflict.
        if error.code == NSManagedObjectMergeError {
            return error.userInfo[NSPersistentStoreSaveConflictsErrorKey] == nil
        }
        // Foundation's errors about files, and those of a store that others keep locked or have changed so that the
        // model does not fit any more.
        let codes = [
            NSPersistentStoreTimeoutError, NSPersistentStoreIncompatibleSchemaError, NSPersistentStoreOperationError,
            NSPersistentStoreIncompatibleVersionHashError,
        ]
        return (0...1023).contains(error.code) || codes.contains(error.code)
    }
}
