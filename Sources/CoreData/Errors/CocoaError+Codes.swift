import Foundation

// What a `catch` names: `catch CocoaError.managedObjectValidation`.
extension CocoaError {
    /// A request or a set-up makes no sense.
    public static var coreData: CocoaError.Code { CocoaError.Code.coreData }
    /// A request or a set-up makes no sense.
    public static var coreDataError: CocoaError.Code { CocoaError.Code.coreData }
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
    /// A save met values that must be unique, and the merge policy did not resolve it.
    public static var managedObjectConstraintMerge: CocoaError.Code { CocoaError.Code.managedObjectConstraintMerge }
    /// A save met values that must be unique, and the merge policy did not resolve it.
    public static var managedObjectConstraintMergeError: CocoaError.Code {
        CocoaError.Code.managedObjectConstraintMerge
    }
    /// A context could not be locked.
    public static var managedObjectContextLocking: CocoaError.Code { CocoaError.Code.managedObjectContextLocking }
    /// A context could not be locked.
    public static var managedObjectContextLockingError: CocoaError.Code { CocoaError.Code.managedObjectContextLocking }
    /// An object refers to an object of another store.
    public static var managedObjectExternalRelationship: CocoaError.Code {
        CocoaError.Code.managedObjectExternalRelationship
    }
    /// An object refers to an object of another store.
    public static var managedObjectExternalRelationshipError: CocoaError.Code {
        CocoaError.Code.managedObjectExternalRelationship
    }
    /// A save met changes by somebody else that the merge policy did not resolve.
    public static var managedObjectMerge: CocoaError.Code { CocoaError.Code.managedObjectMerge }
    /// A save met changes by somebody else that the merge policy did not resolve.
    public static var managedObjectMergeError: CocoaError.Code { CocoaError.Code.managedObjectMerge }
    /// A fault leads to an object that its store does not have.
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        CocoaError.Code.managedObjectReferentialIntegrity
    }
    /// A fault leads to an object that its store does not have.
    public static var managedObjectReferentialIntegrityError: CocoaError.Code {
        CocoaError.Code.managedObjectReferentialIntegrity
    }
    /// A value of an object is not valid.
    public static var managedObjectValidation: CocoaError.Code { CocoaError.Code.managedObjectValidation }
    /// A value of an object is not valid.
    public static var managedObjectValidationError: CocoaError.Code { CocoaError.Code.managedObjectValidation }
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
    /// A date is after the latest that is allowed.
    public static var validationDateTooLate: CocoaError.Code { CocoaError.Code.validationDateTooLate }
    /// A date is after the latest that is allowed.
    public static var validationDateTooLateError: CocoaError.Code { CocoaError.Code.validationDateTooLate }
    /// A date is before the earliest that is allowed.
    public static var validationDateTooSoon: CocoaError.Code { CocoaError.Code.validationDateTooSoon }
    /// A date is before the earliest that is allowed.
    public static var validationDateTooSoonError: CocoaError.Code { CocoaError.Code.validationDateTooSoon }
    /// A date is none.
    public static var validationInvalidDate: CocoaError.Code { CocoaError.Code.validationInvalidDate }
    /// A date is none.
    public static var validationInvalidDateError: CocoaError.Code { CocoaError.Code.validationInvalidDate }
    /// A required property has no value.
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        CocoaError.Code.validationMissingMandatoryProperty
    }
    /// A required property has no value.
    public static var validationMissingMandatoryPropertyError: CocoaError.Code {
        CocoaError.Code.validationMissingMandatoryProperty
    }
    /// Several values are not valid; `NSDetailedErrorsKey` has one error for each.
    public static var validationMultipleErrors: CocoaError.Code { CocoaError.Code.validationMultipleErrors }
    /// Several values are not valid; `NSDetailedErrorsKey` has one error for each.
    public static var validationMultipleErrorsError: CocoaError.Code { CocoaError.Code.validationMultipleErrors }
    /// A number is above its maximum.
    public static var validationNumberTooLarge: CocoaError.Code { CocoaError.Code.validationNumberTooLarge }
    /// A number is above its maximum.
    public static var validationNumberTooLargeError: CocoaError.Code { CocoaError.Code.validationNumberTooLarge }
    /// A number is below its minimum.
    public static var validationNumberTooSmall: CocoaError.Code { CocoaError.Code.validationNumberTooSmall }
    /// A number is below its minimum.
    public static var validationNumberTooSmallError: CocoaError.Code { CocoaError.Code.validationNumberTooSmall }
    /// An object cannot be deleted while a relationship with the deny rule has destinations.
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        CocoaError.Code.validationRelationshipDeniedDelete
    }
    /// An object cannot be deleted while a relationship with the deny rule has destinations.
    public static var validationRelationshipDeniedDeleteError: CocoaError.Code {
        CocoaError.Code.validationRelationshipDeniedDelete
    }
    /// A to-many relationship has more destinations than its maximum.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        CocoaError.Code.validationRelationshipExceedsMaximumCount
    }
    /// A to-many relationship has more destinations than its maximum.
    public static var validationRelationshipExceedsMaximumCountError: CocoaError.Code {
        CocoaError.Code.validationRelationshipExceedsMaximumCount
    }
    /// A to-many relationship has fewer destinations than its minimum.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        CocoaError.Code.validationRelationshipLacksMinimumCount
    }
    /// A to-many relationship has fewer destinations than its minimum.
    public static var validationRelationshipLacksMinimumCountError: CocoaError.Code {
        CocoaError.Code.validationRelationshipLacksMinimumCount
    }
    /// A string does not match its pattern.
    public static var validationStringPatternMatching: CocoaError.Code {
        CocoaError.Code.validationStringPatternMatching
    }
    /// A string does not match its pattern.
    public static var validationStringPatternMatchingError: CocoaError.Code {
        CocoaError.Code.validationStringPatternMatching
    }
    /// A string is longer than its maximum.
    public static var validationStringTooLong: CocoaError.Code { CocoaError.Code.validationStringTooLong }
    /// A string is longer than its maximum.
    public static var validationStringTooLongError: CocoaError.Code { CocoaError.Code.validationStringTooLong }
    /// A string is shorter than its minimum.
    public static var validationStringTooShort: CocoaError.Code { CocoaError.Code.validationStringTooShort }
    /// A string is shorter than its minimum.
    public static var validationStringTooShortError: CocoaError.Code { CocoaError.Code.validationStringTooShort }
}
