import Foundation

// The codes of stores and migrations.
extension CoreDataErrorCodes {
    /// A migration policy of an entity failed.
    public static var entityMigrationPolicy: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.entityMigrationPolicy)
    }
    /// The long name of ``entityMigrationPolicy``.
    public static var entityMigrationPolicyError: CocoaError.Code { entityMigrationPolicy }
    /// External records could not be imported.
    public static var externalRecordImport: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.externalRecordImport)
    }
    /// The long name of ``externalRecordImport``.
    public static var externalRecordImportError: CocoaError.Code { externalRecordImport }
    /// No mapping between two models could be inferred.
    public static var inferredMappingModel: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.inferredMappingModel)
    }
    /// The long name of ``inferredMappingModel``.
    public static var inferredMappingModelError: CocoaError.Code { inferredMappingModel }
    /// A migration failed.
    public static var migration: CocoaError.Code { CocoaError.Code(rawValue: CoreDataErrorCode.migration) }
    /// The long name of ``migration``.
    public static var migrationError: CocoaError.Code { migration }
    /// A migration was cancelled.
    public static var migrationCancelled: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.migrationCancelled)
    }
    /// The long name of ``migrationCancelled``.
    public static var migrationCancelledError: CocoaError.Code { migrationCancelled }
    /// A migration could not write its destination.
    public static var migrationManagerDestinationStore: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.migrationManagerDestinationStore)
    }
    /// The long name of ``migrationManagerDestinationStore``.
    public static var migrationManagerDestinationStoreError: CocoaError.Code { migrationManagerDestinationStore }
    /// A migration could not read its source.
    public static var migrationManagerSourceStore: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.migrationManagerSourceStore)
    }
    /// The long name of ``migrationManagerSourceStore``.
    public static var migrationManagerSourceStoreError: CocoaError.Code { migrationManagerSourceStore }
    /// No mapping between two models was found.
    public static var migrationMissingMappingModel: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.migrationMissingMappingModel)
    }
    /// The long name of ``migrationMissingMappingModel``.
    public static var migrationMissingMappingModelError: CocoaError.Code { migrationMissingMappingModel }
    /// No model of the store to migrate was found.
    public static var migrationMissingSourceModel: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.migrationMissingSourceModel)
    }
    /// The long name of ``migrationMissingSourceModel``.
    public static var migrationMissingSourceModelError: CocoaError.Code { migrationMissingSourceModel }
    /// A coordinator could not be locked.
    public static var persistentStoreCoordinatorLocking: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreCoordinatorLocking)
    }
    /// The long name of ``persistentStoreCoordinatorLocking``.
    public static var persistentStoreCoordinatorLockingError: CocoaError.Code { persistentStoreCoordinatorLocking }
    /// A store lacks a table or a column that the model needs.
    public static var persistentStoreIncompatibleSchema: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreIncompatibleSchema)
    }
    /// The long name of ``persistentStoreIncompatibleSchema``.
    public static var persistentStoreIncompatibleSchemaError: CocoaError.Code { persistentStoreIncompatibleSchema }
    /// The model is of another version than the store.
    public static var persistentStoreIncompatibleVersionHash: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreIncompatibleVersionHash)
    }
    /// The long name of ``persistentStoreIncompatibleVersionHash``.
    public static var persistentStoreIncompatibleVersionHashError: CocoaError.Code {
        persistentStoreIncompatibleVersionHash
    }
    /// At least one store of a save could not be written.
    public static var persistentStoreIncompleteSave: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreIncompleteSave)
    }
    /// The long name of ``persistentStoreIncompleteSave``.
    public static var persistentStoreIncompleteSaveError: CocoaError.Code { persistentStoreIncompleteSave }
    /// There is no such type of store.
    public static var persistentStoreInvalidType: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreInvalidType)
    }
    /// The long name of ``persistentStoreInvalidType``.
    public static var persistentStoreInvalidTypeError: CocoaError.Code { persistentStoreInvalidType }
    /// A store could not be opened.
    public static var persistentStoreOpen: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreOpen)
    }
    /// The long name of ``persistentStoreOpen``.
    public static var persistentStoreOpenError: CocoaError.Code { persistentStoreOpen }
    /// An operation on a store failed.
    public static var persistentStoreOperation: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreOperation)
    }
    /// The long name of ``persistentStoreOperation``.
    public static var persistentStoreOperationError: CocoaError.Code { persistentStoreOperation }
    /// A store could not be written.
    public static var persistentStoreSave: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreSave)
    }
    /// The long name of ``persistentStoreSave``.
    public static var persistentStoreSaveError: CocoaError.Code { persistentStoreSave }
    /// Another process kept a store locked for too long.
    public static var persistentStoreTimeout: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreTimeout)
    }
    /// The long name of ``persistentStoreTimeout``.
    public static var persistentStoreTimeoutError: CocoaError.Code { persistentStoreTimeout }
    /// A file holds a store of another type.
    public static var persistentStoreTypeMismatch: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreTypeMismatch)
    }
    /// The long name of ``persistentStoreTypeMismatch``.
    public static var persistentStoreTypeMismatchError: CocoaError.Code { persistentStoreTypeMismatch }
    /// The store does not support this kind of request.
    public static var persistentStoreUnsupportedRequestType: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreUnsupportedRequestType)
    }
    /// The long name of ``persistentStoreUnsupportedRequestType``.
    public static var persistentStoreUnsupportedRequestTypeError: CocoaError.Code {
        persistentStoreUnsupportedRequestType
    }
    /// SQLite reported an error.
    public static var sqlite: CocoaError.Code { CocoaError.Code(rawValue: CoreDataErrorCode.sqlite) }
    /// The long name of ``sqlite``.
    public static var sqliteError: CocoaError.Code { sqlite }
    /// A save found conflicts, which are under `NSPersistentStoreSaveConflictsErrorKey`.
    public static var persistentStoreSaveConflictsError: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.persistentStoreSaveConflicts)
    }
}

extension CocoaError.Code {
    /// A save found conflicts, which are under `NSPersistentStoreSaveConflictsErrorKey`.
    public static var persistentStoreSaveConflicts: CocoaError.Code { persistentStoreSaveConflictsError }
}
