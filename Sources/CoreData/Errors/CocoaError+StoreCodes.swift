import Foundation

// What a `catch` names, of stores and migrations.
extension CocoaError {
    /// A migration policy of an entity failed.
    public static var entityMigrationPolicy: CocoaError.Code { CocoaError.Code.entityMigrationPolicy }
    /// A migration policy of an entity failed.
    public static var entityMigrationPolicyError: CocoaError.Code { CocoaError.Code.entityMigrationPolicy }
    /// External records could not be imported.
    public static var externalRecordImport: CocoaError.Code { CocoaError.Code.externalRecordImport }
    /// External records could not be imported.
    public static var externalRecordImportError: CocoaError.Code { CocoaError.Code.externalRecordImport }
    /// No mapping between two models could be inferred.
    public static var inferredMappingModel: CocoaError.Code { CocoaError.Code.inferredMappingModel }
    /// No mapping between two models could be inferred.
    public static var inferredMappingModelError: CocoaError.Code { CocoaError.Code.inferredMappingModel }
    /// A migration failed.
    public static var migration: CocoaError.Code { CocoaError.Code.migration }
    /// A migration failed.
    public static var migrationError: CocoaError.Code { CocoaError.Code.migration }
    /// A migration was cancelled.
    public static var migrationCancelled: CocoaError.Code { CocoaError.Code.migrationCancelled }
    /// A migration was cancelled.
    public static var migrationCancelledError: CocoaError.Code { CocoaError.Code.migrationCancelled }
    /// A migration could not write its destination.
    public static var migrationManagerDestinationStore: CocoaError.Code {
        CocoaError.Code.migrationManagerDestinationStore
    }
    /// A migration could not write its destination.
    public static var migrationManagerDestinationStoreError: CocoaError.Code {
        CocoaError.Code.migrationManagerDestinationStore
    }
    /// A migration could not read its source.
    public static var migrationManagerSourceStore: CocoaError.Code { CocoaError.Code.migrationManagerSourceStore }
    /// A migration could not read its source.
    public static var migrationManagerSourceStoreError: CocoaError.Code { CocoaError.Code.migrationManagerSourceStore }
    /// No mapping between two models was found.
    public static var migrationMissingMappingModel: CocoaError.Code { CocoaError.Code.migrationMissingMappingModel }
    /// No mapping between two models was found.
    public static var migrationMissingMappingModelError: CocoaError.Code {
        CocoaError.Code.migrationMissingMappingModel
    }
    /// No model of the store that is to be migrated was found.
    public static var migrationMissingSourceModel: CocoaError.Code { CocoaError.Code.migrationMissingSourceModel }
    /// No model of the store that is to be migrated was found.
    public static var migrationMissingSourceModelError: CocoaError.Code { CocoaError.Code.migrationMissingSourceModel }
    /// A coordinator could not be locked.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code {
        CocoaError.Code.persistentStoreCoordinatorLocking
    }
    /// A coordinator could not be locked.
    public static var persistentStoreCoordinatorLockingError: CocoaError.Code {
        CocoaError.Code.persistentStoreCoordinatorLocking
    }
    /// A store lacks a table or a column that the model needs.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code {
        CocoaError.Code.persistentStoreIncompatibleSchema
    }
    /// A store lacks a table or a column that the model needs.
    public static var persistentStoreIncompatibleSchemaError: CocoaError.Code {
        CocoaError.Code.persistentStoreIncompatibleSchema
    }
    /// The model is of another version than the store.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        CocoaError.Code.persistentStoreIncompatibleVersionHash
    }
    /// The model is of another version than the store.
    public static var persistentStoreIncompatibleVersionHashError: CocoaError.Code {
        CocoaError.Code.persistentStoreIncompatibleVersionHash
    }
    /// One store or more of a save could not be written.
    public static var persistentStoreIncompleteSave: CocoaError.Code { CocoaError.Code.persistentStoreIncompleteSave }
    /// One store or more of a save could not be written.
    public static var persistentStoreIncompleteSaveError: CocoaError.Code {
        CocoaError.Code.persistentStoreIncompleteSave
    }
    /// There is no such type of store.
    public static var persistentStoreInvalidType: CocoaError.Code { CocoaError.Code.persistentStoreInvalidType }
    /// There is no such type of store.
    public static var persistentStoreInvalidTypeError: CocoaError.Code { CocoaError.Code.persistentStoreInvalidType }
    /// A store could not be opened.
    public static var persistentStoreOpen: CocoaError.Code { CocoaError.Code.persistentStoreOpen }
    /// A store could not be opened.
    public static var persistentStoreOpenError: CocoaError.Code { CocoaError.Code.persistentStoreOpen }
    /// An operation on a store failed.
    public static var persistentStoreOperation: CocoaError.Code { CocoaError.Code.persistentStoreOperation }
    /// An operation on a store failed.
    public static var persistentStoreOperationError: CocoaError.Code { CocoaError.Code.persistentStoreOperation }
    /// A store could not be written.
    public static var persistentStoreSave: CocoaError.Code { CocoaError.Code.persistentStoreSave }
    /// A store could not be written.
    public static var persistentStoreSaveError: CocoaError.Code { CocoaError.Code.persistentStoreSave }
    /// A save met conflicts; `NSPersistentStoreSaveConflictsErrorKey` has them.
    public static var persistentStoreSaveConflictsError: CocoaError.Code {
        CocoaError.Code.persistentStoreSaveConflicts
    }
    /// Another process kept a store locked for too long.
    public static var persistentStoreTimeout: CocoaError.Code { CocoaError.Code.persistentStoreTimeout }
    /// Another process kept a store locked for too long.
    public static var persistentStoreTimeoutError: CocoaError.Code { CocoaError.Code.persistentStoreTimeout }
    /// A file holds a store of another type.
    public static var persistentStoreTypeMismatch: CocoaError.Code { CocoaError.Code.persistentStoreTypeMismatch }
    /// A file holds a store of another type.
    public static var persistentStoreTypeMismatchError: CocoaError.Code { CocoaError.Code.persistentStoreTypeMismatch }
    /// A store does not know the kind of request.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        CocoaError.Code.persistentStoreUnsupportedRequestType
    }
    /// A store does not know the kind of request.
    public static var persistentStoreUnsupportedRequestTypeError: CocoaError.Code {
        CocoaError.Code.persistentStoreUnsupportedRequestType
    }
    /// SQLite reported an error.
    public static var sqlite: CocoaError.Code { CocoaError.Code.sqlite }
    /// SQLite reported an error.
    public static var sqliteError: CocoaError.Code { CocoaError.Code.sqlite }
}
