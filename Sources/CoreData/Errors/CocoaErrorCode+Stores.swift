import Foundation

// The codes of stores and migrations.
extension CocoaError.Code {
    /// A migration policy of an entity failed.
    public static var entityMigrationPolicy: CocoaError.Code { CocoaError.Code(rawValue: NSEntityMigrationPolicyError) }
    /// A migration policy of an entity failed.
    public static var entityMigrationPolicyError: CocoaError.Code {
        CocoaError.Code(rawValue: NSEntityMigrationPolicyError)
    }
    /// External records could not be imported.
    public static var externalRecordImport: CocoaError.Code { CocoaError.Code(rawValue: NSExternalRecordImportError) }
    /// External records could not be imported.
    public static var externalRecordImportError: CocoaError.Code {
        CocoaError.Code(rawValue: NSExternalRecordImportError)
    }
    /// No mapping between two models could be inferred.
    public static var inferredMappingModel: CocoaError.Code { CocoaError.Code(rawValue: NSInferredMappingModelError) }
    /// No mapping between two models could be inferred.
    public static var inferredMappingModelError: CocoaError.Code {
        CocoaError.Code(rawValue: NSInferredMappingModelError)
    }
    /// A migration failed.
    public static var migration: CocoaError.Code { CocoaError.Code(rawValue: NSMigrationError) }
    /// A migration failed.
    public static var migrationError: CocoaError.Code { CocoaError.Code(rawValue: NSMigrationError) }
    /// A migration was cancelled.
    public static var migrationCancelled: CocoaError.Code { CocoaError.Code(rawValue: NSMigrationCancelledError) }
    /// A migration was cancelled.
    public static var migrationCancelledError: CocoaError.Code { CocoaError.Code(rawValue: NSMigrationCancelledError) }
    /// A migration could not write its destination.
    public static var migrationManagerDestinationStore: CocoaError.Code {
        CocoaError.Code(rawValue: NSMigrationManagerDestinationStoreError)
    }
    /// A migration could not write its destination.
    public static var migrationManagerDestinationStoreError: CocoaError.Code {
        CocoaError.Code(rawValue: NSMigrationManagerDestinationStoreError)
    }
    /// A migration could not read its source.
    public static var migrationManagerSourceStore: CocoaError.Code {
        CocoaError.Code(rawValue: NSMigrationManagerSourceStoreError)
    }
    /// A migration could not read its source.
    public static var migrationManagerSourceStoreError: CocoaError.Code {
        CocoaError.Code(rawValue: NSMigrationManagerSourceStoreError)
    }
    /// No mapping between two models was found.
    public static var migrationMissingMappingModel: CocoaError.Code {
        CocoaError.Code(rawValue: NSMigrationMissingMappingModelError)
    }
    /// No mapping between two models was found.
    public static var migrationMissingMappingModelError: CocoaError.Code {
        CocoaError.Code(rawValue: NSMigrationMissingMappingModelError)
    }
    /// No model of the store that is to be migrated was found.
    public static var migrationMissingSourceModel: CocoaError.Code {
        CocoaError.Code(rawValue: NSMigrationMissingSourceModelError)
    }
    /// No model of the store that is to be migrated was found.
    public static var migrationMissingSourceModelError: CocoaError.Code {
        CocoaError.Code(rawValue: NSMigrationMissingSourceModelError)
    }
    /// A coordinator could not be locked.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreCoordinatorLockingError)
    }
    /// A coordinator could not be locked.
    public static var persistentStoreCoordinatorLockingError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreCoordinatorLockingError)
    }
    /// A store lacks a table or a column that the model needs.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreIncompatibleSchemaError)
    }
    /// A store lacks a table or a column that the model needs.
    public static var persistentStoreIncompatibleSchemaError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreIncompatibleSchemaError)
    }
    /// The model is of another version than the store.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreIncompatibleVersionHashError)
    }
    /// The model is of another version than the store.
    public static var persistentStoreIncompatibleVersionHashError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreIncompatibleVersionHashError)
    }
    /// One store or more of a save could not be written.
    public static var persistentStoreIncompleteSave: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreIncompleteSaveError)
    }
    /// One store or more of a save could not be written.
    public static var persistentStoreIncompleteSaveError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreIncompleteSaveError)
    }
    /// There is no such type of store.
    public static var persistentStoreInvalidType: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreInvalidTypeError)
    }
    /// There is no such type of store.
    public static var persistentStoreInvalidTypeError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreInvalidTypeError)
    }
    /// A store could not be opened.
    public static var persistentStoreOpen: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreOpenError) }
    /// A store could not be opened.
    public static var persistentStoreOpenError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreOpenError)
    }
    /// An operation on a store failed.
    public static var persistentStoreOperation: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreOperationError)
    }
    /// An operation on a store failed.
    public static var persistentStoreOperationError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreOperationError)
    }
    /// A store could not be written.
    public static var persistentStoreSave: CocoaError.Code { CocoaError.Code(rawValue: NSPersistentStoreSaveError) }
    /// A store could not be written.
    public static var persistentStoreSaveError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreSaveError)
    }
    /// A save met conflicts; `NSPersistentStoreSaveConflictsErrorKey` has them.
    public static var persistentStoreSaveConflicts: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreSaveConflictsError)
    }
    /// A save met conflicts; `NSPersistentStoreSaveConflictsErrorKey` has them.
    public static var persistentStoreSaveConflictsError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreSaveConflictsError)
    }
    /// Another process kept a store locked for too long.
    public static var persistentStoreTimeout: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreTimeoutError)
    }
    /// Another process kept a store locked for too long.
    public static var persistentStoreTimeoutError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreTimeoutError)
    }
    /// A file holds a store of another type.
    public static var persistentStoreTypeMismatch: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreTypeMismatchError)
    }
    /// A file holds a store of another type.
    public static var persistentStoreTypeMismatchError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreTypeMismatchError)
    }
    /// A store does not know the kind of request.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
    }
    /// A store does not know the kind of request.
    public static var persistentStoreUnsupportedRequestTypeError: CocoaError.Code {
        CocoaError.Code(rawValue: NSPersistentStoreUnsupportedRequestTypeError)
    }
    /// SQLite reported an error.
    public static var sqlite: CocoaError.Code { CocoaError.Code(rawValue: NSSQLiteError) }
    /// SQLite reported an error.
    public static var sqliteError: CocoaError.Code { CocoaError.Code(rawValue: NSSQLiteError) }
}
