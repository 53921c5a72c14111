// Core Data's error codes in the Cocoa domain, by the names that Objective-C code uses.

/// Error code: a value of an object is not valid.
public var NSManagedObjectValidationError: Int { CoreDataErrorCode.managedObjectValidation }
/// Error code: objects of one save share values that must be unique.
public var NSManagedObjectConstraintValidationError: Int { CoreDataErrorCode.managedObjectConstraintValidation }
/// Error code: several values are not valid; `NSDetailedErrorsKey` has one error for each.
public var NSValidationMultipleErrorsError: Int { CoreDataErrorCode.validationMultipleErrors }
/// Error code: a required property has no value.
public var NSValidationMissingMandatoryPropertyError: Int { CoreDataErrorCode.validationMissingMandatoryProperty }
/// Error code: a to-many relationship has fewer destinations than its minimum.
public var NSValidationRelationshipLacksMinimumCountError: Int {
    CoreDataErrorCode.validationRelationshipLacksMinimumCount
}
/// Error code: a to-many relationship has more destinations than its maximum.
public var NSValidationRelationshipExceedsMaximumCountError: Int {
    CoreDataErrorCode.validationRelationshipExceedsMaximumCount
}
/// Error code: an object cannot be deleted while a relationship with the deny rule has destinations.
public var NSValidationRelationshipDeniedDeleteError: Int { CoreDataErrorCode.validationRelationshipDeniedDelete }
/// Error code: a number is above its maximum.
public var NSValidationNumberTooLargeError: Int { CoreDataErrorCode.validationNumberTooLarge }
/// Error code: a number is below its minimum.
public var NSValidationNumberTooSmallError: Int { CoreDataErrorCode.validationNumberTooSmall }
/// Error code: a date is after the latest that is allowed.
public var NSValidationDateTooLateError: Int { CoreDataErrorCode.validationDateTooLate }
/// Error code: a date is before the earliest that is allowed.
public var NSValidationDateTooSoonError: Int { CoreDataErrorCode.validationDateTooSoon }
/// Error code: a value is not a date.
public var NSValidationInvalidDateError: Int { CoreDataErrorCode.validationInvalidDate }
/// Error code: a string is longer than its maximum.
public var NSValidationStringTooLongError: Int { CoreDataErrorCode.validationStringTooLong }
/// Error code: a string is shorter than its minimum.
public var NSValidationStringTooShortError: Int { CoreDataErrorCode.validationStringTooShort }
/// Error code: a string does not match its pattern.
public var NSValidationStringPatternMatchingError: Int { CoreDataErrorCode.validationStringPatternMatching }
/// Error code: a value is not a URI.
public var NSValidationInvalidURIError: Int { CoreDataErrorCode.validationInvalidURI }
/// Error code: a context could not be locked.
public var NSManagedObjectContextLockingError: Int { CoreDataErrorCode.managedObjectContextLocking }
/// Error code: a coordinator could not be locked.
public var NSPersistentStoreCoordinatorLockingError: Int { CoreDataErrorCode.persistentStoreCoordinatorLocking }
/// Error code: a fault leads to an object that its store does not have.
public var NSManagedObjectReferentialIntegrityError: Int { CoreDataErrorCode.managedObjectReferentialIntegrity }
/// Error code: an object refers to an object of another store.
public var NSManagedObjectExternalRelationshipError: Int { CoreDataErrorCode.managedObjectExternalRelationship }
/// Error code: a save found changes by somebody else, and the merge policy did not resolve the conflict.
public var NSManagedObjectMergeError: Int { CoreDataErrorCode.managedObjectMerge }
/// Error code: a save found values that are not unique as required, and the merge policy did not resolve the conflict.
public var NSManagedObjectConstraintMergeError: Int { CoreDataErrorCode.managedObjectConstraintMerge }
/// Error code: there is no such type of store.
public var NSPersistentStoreInvalidTypeError: Int { CoreDataErrorCode.persistentStoreInvalidType }
/// Error code: a file holds a store of another type.
public var NSPersistentStoreTypeMismatchError: Int { CoreDataErrorCode.persistentStoreTypeMismatch }
/// Error code: a store lacks a table or a column that the model needs.
public var NSPersistentStoreIncompatibleSchemaError: Int { CoreDataErrorCode.persistentStoreIncompatibleSchema }
/// Error code: a store could not be written.
public var NSPersistentStoreSaveError: Int { CoreDataErrorCode.persistentStoreSave }
/// Error code: at least one store of a save could not be written.
public var NSPersistentStoreIncompleteSaveError: Int { CoreDataErrorCode.persistentStoreIncompleteSave }
/// Error code: a save found conflicts, which are under `NSPersistentStoreSaveConflictsErrorKey`.
public var NSPersistentStoreSaveConflictsError: Int { CoreDataErrorCode.persistentStoreSaveConflicts }
/// Error code: a request or a configuration is invalid.
public var NSCoreDataError: Int { CoreDataErrorCode.coreData }
/// Error code: an operation on a store failed.
public var NSPersistentStoreOperationError: Int { CoreDataErrorCode.persistentStoreOperation }
/// Error code: a store could not be opened.
public var NSPersistentStoreOpenError: Int { CoreDataErrorCode.persistentStoreOpen }
/// Error code: another process kept a store locked for too long.
public var NSPersistentStoreTimeoutError: Int { CoreDataErrorCode.persistentStoreTimeout }
/// Error code: a store does not support the kind of request.
public var NSPersistentStoreUnsupportedRequestTypeError: Int { CoreDataErrorCode.persistentStoreUnsupportedRequestType }
/// Error code: the model is of another version than the store.
public var NSPersistentStoreIncompatibleVersionHashError: Int {
    CoreDataErrorCode.persistentStoreIncompatibleVersionHash
}
/// Error code: a migration failed.
public var NSMigrationError: Int { CoreDataErrorCode.migration }
/// Error code: migrated objects share values that must be unique.
public var NSMigrationConstraintViolationError: Int { CoreDataErrorCode.migrationConstraintViolation }
/// Error code: a migration was cancelled.
public var NSMigrationCancelledError: Int { CoreDataErrorCode.migrationCancelled }
/// Error code: no model of the store to migrate was found.
public var NSMigrationMissingSourceModelError: Int { CoreDataErrorCode.migrationMissingSourceModel }
/// Error code: no mapping between two models was found.
public var NSMigrationMissingMappingModelError: Int { CoreDataErrorCode.migrationMissingMappingModel }
/// Error code: a migration could not read its source.
public var NSMigrationManagerSourceStoreError: Int { CoreDataErrorCode.migrationManagerSourceStore }
/// Error code: a migration could not write its destination.
public var NSMigrationManagerDestinationStoreError: Int { CoreDataErrorCode.migrationManagerDestinationStore }
/// Error code: a migration policy of an entity failed.
public var NSEntityMigrationPolicyError: Int { CoreDataErrorCode.entityMigrationPolicy }
/// Error code: SQLite reported an error.
public var NSSQLiteError: Int { CoreDataErrorCode.sqlite }
/// Error code: no mapping between two models could be inferred.
public var NSInferredMappingModelError: Int { CoreDataErrorCode.inferredMappingModel }
/// Error code: external records could not be imported.
public var NSExternalRecordImportError: Int { CoreDataErrorCode.externalRecordImport }
/// Error code: a history token is older than the history that is kept.
public var NSPersistentHistoryTokenExpiredError: Int { CoreDataErrorCode.persistentHistoryTokenExpired }
/// Error code: a model reference leads to no model.
public var NSManagedObjectModelReferenceNotFoundError: Int { CoreDataErrorCode.managedObjectModelReferenceNotFound }
/// Error code: a store must be opened once more before it can be migrated in stages.
public var NSStagedMigrationFrameworkVersionMismatchError: Int {
    CoreDataErrorCode.stagedMigrationFrameworkVersionMismatch
}
/// Error code: a staged migration would lead back to an earlier version.
public var NSStagedMigrationBackwardMigrationError: Int { CoreDataErrorCode.stagedMigrationBackwardMigration }

/// In an error: all errors of a failed validation or save.
public let NSDetailedErrorsKey = "NSDetailedErrors"
/// In a validation error: the object.
public let NSValidationObjectErrorKey = "NSValidationErrorObject"
/// In a validation error: the property.
public let NSValidationKeyErrorKey = "NSValidationErrorKey"
/// The name of the entity whose relationship, under `NSValidationKeyErrorKey`, refuses a deletion by a batch: an error
/// of a batch has no object that would tell it.
package let deletedEntityErrorKey = "PippinDeletedEntity"
/// In a validation error: the predicate that was not satisfied.
public let NSValidationPredicateErrorKey = "NSValidationErrorPredicate"
/// In a validation error: the value.
public let NSValidationValueErrorKey = "NSValidationErrorValue"
/// In an error: the stores that it concerns.
public let NSAffectedStoresErrorKey = "NSAffectedStoresErrorKey"
/// In an error: the objects that it concerns.
public let NSAffectedObjectsErrorKey = "NSAffectedObjectsErrorKey"
/// In an error of a save: the conflicts. Core Data's errors show them under this name.
public let NSPersistentStoreSaveConflictsErrorKey = "conflictList"
