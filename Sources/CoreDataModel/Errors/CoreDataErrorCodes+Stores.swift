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

/// Core Data's error codes by name. Each also has the long name that Swift formerly gave it.
///
/// They are members of `CocoaError.Code`, and of `CocoaError`, for use in a `catch`:
///
/// ```swift
/// do {
///     try context.save()
/// } catch CocoaError.managedObjectValidation {
///     // Say which value is wrong.
/// } catch let error as CocoaError where error.code == .persistentStoreTimeout {
///     // Try again later.
/// }
/// ```
public protocol CoreDataErrorCodes {}

extension CocoaError: CoreDataErrorCodes {}
extension CocoaError.Code: CoreDataErrorCodes {}

extension CoreDataErrorCodes {
    /// A request or a configuration is invalid.
    public static var coreData: CocoaError.Code { CocoaError.Code(rawValue: CoreDataErrorCode.coreData) }
    /// The long name of ``coreData``.
    public static var coreDataError: CocoaError.Code { coreData }
    /// A save found values that are not unique as required, and the merge policy did not resolve the conflict.
    public static var managedObjectConstraintMerge: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectConstraintMerge)
    }
    /// The long name of ``managedObjectConstraintMerge``.
    public static var managedObjectConstraintMergeError: CocoaError.Code { managedObjectConstraintMerge }
    /// A context could not be locked.
    public static var managedObjectContextLocking: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectContextLocking)
    }
    /// The long name of ``managedObjectContextLocking``.
    public static var managedObjectContextLockingError: CocoaError.Code { managedObjectContextLocking }
    /// An object refers to an object of another store.
    public static var managedObjectExternalRelationship: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectExternalRelationship)
    }
    /// The long name of ``managedObjectExternalRelationship``.
    public static var managedObjectExternalRelationshipError: CocoaError.Code { managedObjectExternalRelationship }
    /// A save found changes by somebody else, and the merge policy did not resolve the conflict.
    public static var managedObjectMerge: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectMerge)
    }
    /// The long name of ``managedObjectMerge``.
    public static var managedObjectMergeError: CocoaError.Code { managedObjectMerge }
    /// A fault leads to an object that its store does not have.
    public static var managedObjectReferentialIntegrity: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectReferentialIntegrity)
    }
    /// The long name of ``managedObjectReferentialIntegrity``.
    public static var managedObjectReferentialIntegrityError: CocoaError.Code { managedObjectReferentialIntegrity }
    /// A value of an object is not valid.
    public static var managedObjectValidation: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.managedObjectValidation)
    }
    /// The long name of ``managedObjectValidation``.
    public static var managedObjectValidationError: CocoaError.Code { managedObjectValidation }
    /// A date is after the latest that is allowed.
    public static var validationDateTooLate: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationDateTooLate)
    }
    /// The long name of ``validationDateTooLate``.
    public static var validationDateTooLateError: CocoaError.Code { validationDateTooLate }
    /// A date is before the earliest that is allowed.
    public static var validationDateTooSoon: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationDateTooSoon)
    }
    /// The long name of ``validationDateTooSoon``.
    public static var validationDateTooSoonError: CocoaError.Code { validationDateTooSoon }
    /// A value is not a date.
    public static var validationInvalidDate: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationInvalidDate)
    }
    /// The long name of ``validationInvalidDate``.
    public static var validationInvalidDateError: CocoaError.Code { validationInvalidDate }
    /// A required property has no value.
    public static var validationMissingMandatoryProperty: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationMissingMandatoryProperty)
    }
    /// The long name of ``validationMissingMandatoryProperty``.
    public static var validationMissingMandatoryPropertyError: CocoaError.Code { validationMissingMandatoryProperty }
    /// Several values are not valid; `NSDetailedErrorsKey` has one error for each.
    public static var validationMultipleErrors: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationMultipleErrors)
    }
    /// The long name of ``validationMultipleErrors``.
    public static var validationMultipleErrorsError: CocoaError.Code { validationMultipleErrors }
    /// A number is above its maximum.
    public static var validationNumberTooLarge: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationNumberTooLarge)
    }
    /// The long name of ``validationNumberTooLarge``.
    public static var validationNumberTooLargeError: CocoaError.Code { validationNumberTooLarge }
    /// A number is below its minimum.
    public static var validationNumberTooSmall: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationNumberTooSmall)
    }
    /// The long name of ``validationNumberTooSmall``.
    public static var validationNumberTooSmallError: CocoaError.Code { validationNumberTooSmall }
    /// An object cannot be deleted while a relationship with the deny rule has destinations.
    public static var validationRelationshipDeniedDelete: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationRelationshipDeniedDelete)
    }
    /// The long name of ``validationRelationshipDeniedDelete``.
    public static var validationRelationshipDeniedDeleteError: CocoaError.Code { validationRelationshipDeniedDelete }
    /// A to-many relationship has more destinations than its maximum.
    public static var validationRelationshipExceedsMaximumCount: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationRelationshipExceedsMaximumCount)
    }
    /// The long name of ``validationRelationshipExceedsMaximumCount``.
    public static var validationRelationshipExceedsMaximumCountError: CocoaError.Code {
        validationRelationshipExceedsMaximumCount
    }
    /// A to-many relationship has fewer destinations than its minimum.
    public static var validationRelationshipLacksMinimumCount: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationRelationshipLacksMinimumCount)
    }
    /// The long name of ``validationRelationshipLacksMinimumCount``.
    public static var validationRelationshipLacksMinimumCountError: CocoaError.Code {
        validationRelationshipLacksMinimumCount
    }
    /// A string does not match its pattern.
    public static var validationStringPatternMatching: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationStringPatternMatching)
    }
    /// The long name of ``validationStringPatternMatching``.
    public static var validationStringPatternMatchingError: CocoaError.Code { validationStringPatternMatching }
    /// A string is longer than its maximum.
    public static var validationStringTooLong: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationStringTooLong)
    }
    /// The long name of ``validationStringTooLong``.
    public static var validationStringTooLongError: CocoaError.Code { validationStringTooLong }
    /// A string is shorter than its minimum.
    public static var validationStringTooShort: CocoaError.Code {
        CocoaError.Code(rawValue: CoreDataErrorCode.validationStringTooShort)
    }
    /// The long name of ``validationStringTooShort``.
    public static var validationStringTooShortError: CocoaError.Code { validationStringTooShort }
}
