// Core Data's error codes in the Cocoa domain, by the names that Objective-C code uses.

/// Error code: a value of an object is not valid.
public var NSManagedObjectValidationError: Int { 1550 }
/// Error code: objects of one save share values that must be unique.
public var NSManagedObjectConstraintValidationError: Int { 1551 }
/// Error code: several values are not valid; `NSDetailedErrorsKey` has one error for each.
public var NSValidationMultipleErrorsError: Int { 1560 }
/// Error code: a required property has no value.
public var NSValidationMissingMandatoryPropertyError: Int { 1570 }
/// Error code: a to-many relationship has fewer destinations than its minimum.
public var NSValidationRelationshipLacksMinimumCountError: Int { 1580 }
/// Error code: a to-many relationship has more destinations than its maximum.
public var NSValidationRelationshipExceedsMaximumCountError: Int { 1590 }
/// Error code: an object cannot be deleted while a relationship with the deny rule has destinations.
public var NSValidationRelationshipDeniedDeleteError: Int { 1600 }
/// Error code: a number is above its maximum.
public var NSValidationNumberTooLargeError: Int { 1610 }
/// Error code: a number is below its minimum.
public var NSValidationNumberTooSmallError: Int { 1620 }
/// Error code: a date is after the latest that is allowed.
public var NSValidationDateTooLateError: Int { 1630 }
/// Error code: a date is before the earliest that is allowed.
public var NSValidationDateTooSoonError: Int { 1640 }
/// Error code: a date is none.
public var NSValidationInvalidDateError: Int { 1650 }
/// Error code: a string is longer than its maximum.
public var NSValidationStringTooLongError: Int { 1660 }
/// Error code: a string is shorter than its minimum.
public var NSValidationStringTooShortError: Int { 1670 }
/// Error code: a string does not match its pattern.
public var NSValidationStringPatternMatchingError: Int { 1680 }
/// Error code: a URI is none.
public var NSValidationInvalidURIError: Int { 1690 }
/// Error code: a context could not be locked.
public var NSManagedObjectContextLockingError: Int { 132000 }
/// Error code: a coordinator could not be locked.
public var NSPersistentStoreCoordinatorLockingError: Int { 132010 }
/// Error code: a fault leads to an object that its store does not have.
public var NSManagedObjectReferentialIntegrityError: Int { 133000 }
/// Error code: an object refers to an object of another store.
public var NSManagedObjectExternalRelationshipError: Int { 133010 }
/// Error code: a save met changes by somebody else that the merge policy did not resolve.
public var NSManagedObjectMergeError: Int { 133020 }
/// Error code: a save met values that must be unique, and the merge policy did not resolve it.
public var NSManagedObjectConstraintMergeError: Int { 133021 }
/// Error code: there is no such type of store.
public var NSPersistentStoreInvalidTypeError: Int { 134000 }
/// Error code: a file holds a store of another type.
public var NSPersistentStoreTypeMismatchError: Int { 134010 }
/// Error code: a store lacks a table or a column that the model needs.
public var NSPersistentStoreIncompatibleSchemaError: Int { 134020 }
/// Error code: a store could not be written.
public var NSPersistentStoreSaveError: Int { 134030 }
/// Error code: one store or more of a save could not be written.
public var NSPersistentStoreIncompleteSaveError: Int { 134040 }
/// Error code: a save met conflicts; `NSPersistentStoreSaveConflictsErrorKey` has them.
public var NSPersistentStoreSaveConflictsError: Int { 134050 }
/// Error code: a request or a set-up makes no sense.
public var NSCoreDataError: Int { 134060 }
/// Error code: an operation on a store failed.
public var NSPersistentStoreOperationError: Int { 134070 }
/// Error code: a store could not be opened.
public var NSPersistentStoreOpenError: Int { 134080 }
/// Error code: another process kept a store locked for too long.
public var NSPersistentStoreTimeoutError: Int { 134090 }
/// Error code: a store does not know the kind of request.
public var NSPersistentStoreUnsupportedRequestTypeError: Int { 134091 }
/// Error code: the model is of another version than the store.
public var NSPersistentStoreIncompatibleVersionHashError: Int { 134100 }
/// Error code: a migration failed.
public var NSMigrationError: Int { 134110 }
/// Error code: migrated objects share values that must be unique.
public var NSMigrationConstraintViolationError: Int { 134111 }
/// Error code: a migration was cancelled.
public var NSMigrationCancelledError: Int { 134120 }
/// Error code: no model of the store that is to be migrated was found.
public var NSMigrationMissingSourceModelError: Int { 134130 }
/// Error code: no mapping between two models was found.
public var NSMigrationMissingMappingModelError: Int { 134140 }
/// Error code: a migration could not read its source.
public var NSMigrationManagerSourceStoreError: Int { 134150 }
/// Error code: a migration could not write its destination.
public var NSMigrationManagerDestinationStoreError: Int { 134160 }
/// Error code: a migration policy of an entity failed.
public var NSEntityMigrationPolicyError: Int { 134170 }
/// Error code: SQLite reported an error.
public var NSSQLiteError: Int { 134180 }
/// Error code: no mapping between two models could be inferred.
public var NSInferredMappingModelError: Int { 134190 }
/// Error code: external records could not be imported.
public var NSExternalRecordImportError: Int { 134200 }
/// Error code: a history token is older than the history that is kept.
public var NSPersistentHistoryTokenExpiredError: Int { 134301 }
/// Error code: a model reference leads to no model.
public var NSManagedObjectModelReferenceNotFoundError: Int { 134504 }
/// Error code: a store must be opened once more before it can be migrated in stages.
public var NSStagedMigrationFrameworkVersionMismatchError: Int { 134505 }
/// Error code: a staged migration would lead back to an earlier version.
public var NSStagedMigrationBackwardMigrationError: Int { 134506 }
