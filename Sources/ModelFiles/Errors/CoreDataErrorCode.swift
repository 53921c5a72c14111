/// Core Data's error codes in the Cocoa domain. Their documented numbers appear only here: all public names refer to
/// these.
package enum CoreDataErrorCode {
    package static let managedObjectValidation = 1550
    package static let managedObjectConstraintValidation = 1551
    package static let validationMultipleErrors = 1560
    package static let validationMissingMandatoryProperty = 1570
    package static let validationRelationshipLacksMinimumCount = 1580
    package static let validationRelationshipExceedsMaximumCount = 1590
    package static let validationRelationshipDeniedDelete = 1600
    package static let validationNumberTooLarge = 1610
    package static let validationNumberTooSmall = 1620
    package static let validationDateTooLate = 1630
    package static let validationDateTooSoon = 1640
    package static let validationInvalidDate = 1650
    package static let validationStringTooLong = 1660
    package static let validationStringTooShort = 1670
    package static let validationStringPatternMatching = 1680
    package static let validationInvalidURI = 1690
    package static let managedObjectContextLocking = 132000
    package static let persistentStoreCoordinatorLocking = 132010
    package static let managedObjectReferentialIntegrity = 133000
    package static let managedObjectExternalRelationship = 133010
    package static let managedObjectMerge = 133020
    package static let managedObjectConstraintMerge = 133021
    package static let persistentStoreInvalidType = 134000
    package static let persistentStoreTypeMismatch = 134010
    package static let persistentStoreIncompatibleSchema = 134020
    package static let persistentStoreSave = 134030
    package static let persistentStoreIncompleteSave = 134040
    package static let persistentStoreSaveConflicts = 134050
    package static let coreData = 134060
    package static let persistentStoreOperation = 134070
    package static let persistentStoreOpen = 134080
    /// Core Data has no name for this one.
    package static let persistentStoreIsAdded = 134081
    package static let persistentStoreTimeout = 134090
    package static let persistentStoreUnsupportedRequestType = 134091
    package static let persistentStoreIncompatibleVersionHash = 134100
    package static let migration = 134110
    package static let migrationConstraintViolation = 134111
    package static let migrationCancelled = 134120
    package static let migrationMissingSourceModel = 134130
    package static let migrationMissingMappingModel = 134140
    package static let migrationManagerSourceStore = 134150
    package static let migrationManagerDestinationStore = 134160
    package static let entityMigrationPolicy = 134170
    package static let sqlite = 134180
    package static let inferredMappingModel = 134190
    package static let externalRecordImport = 134200
    package static let persistentHistoryTokenExpired = 134301
    package static let managedObjectModelReferenceNotFound = 134504
    package static let stagedMigrationFrameworkVersionMismatch = 134505
    package static let stagedMigrationBackwardMigration = 134506
}
