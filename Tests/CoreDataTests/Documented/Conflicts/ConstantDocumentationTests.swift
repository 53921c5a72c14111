import CoreData
import Testing

/// Checks of the constants that have pages of their own: numbers of errors, keys, versions.
@Suite("Documented: constants")
struct ConstantDocumentationTests {
    @Test("Error codes have the numbers of Core Data's header")
    func errorCodes() {
        let codes: [(Int, Int)] = [
            (NSManagedObjectValidationError, 1550), (NSManagedObjectConstraintValidationError, 1551),
            (NSValidationMultipleErrorsError, 1560), (NSValidationMissingMandatoryPropertyError, 1570),
            (NSValidationRelationshipLacksMinimumCountError, 1580),
            (NSValidationRelationshipExceedsMaximumCountError, 1590),
            (NSValidationRelationshipDeniedDeleteError, 1600), (NSValidationNumberTooLargeError, 1610),
            (NSValidationNumberTooSmallError, 1620), (NSValidationDateTooLateError, 1630),
            (NSValidationDateTooSoonError, 1640), (NSValidationInvalidDateError, 1650),
            (NSValidationStringTooLongError, 1660), (NSValidationStringTooShortError, 1670),
            (NSValidationStringPatternMatchingError, 1680), (NSValidationInvalidURIError, 1690),
            (NSManagedObjectContextLockingError, 132000), (NSPersistentStoreCoordinatorLockingError, 132010),
            (NSManagedObjectReferentialIntegrityError, 133000), (NSManagedObjectExternalRelationshipError, 133010),
            (NSManagedObjectMergeError, 133020), (NSManagedObjectConstraintMergeError, 133021),
            (NSPersistentStoreInvalidTypeError, 134000), (NSPersistentStoreTypeMismatchError, 134010),
            (NSPersistentStoreIncompatibleSchemaError, 134020), (NSPersistentStoreSaveError, 134030),
            (NSPersistentStoreIncompleteSaveError, 134040), (NSPersistentStoreSaveConflictsError, 134050),
            (NSCoreDataError, 134060), (NSPersistentStoreOperationError, 134070), (NSPersistentStoreOpenError, 134080),
            (NSPersistentStoreTimeoutError, 134090), (NSPersistentStoreUnsupportedRequestTypeError, 134091),
            (NSPersistentStoreIncompatibleVersionHashError, 134100), (NSMigrationError, 134110),
            (NSMigrationConstraintViolationError, 134111), (NSMigrationCancelledError, 134120),
            (NSMigrationMissingSourceModelError, 134130), (NSMigrationMissingMappingModelError, 134140),
            (NSMigrationManagerSourceStoreError, 134150), (NSMigrationManagerDestinationStoreError, 134160),
            (NSEntityMigrationPolicyError, 134170), (NSSQLiteError, 134180), (NSInferredMappingModelError, 134190),
            (NSExternalRecordImportError, 134200), (NSPersistentHistoryTokenExpiredError, 134301),
            (NSManagedObjectModelReferenceNotFoundError, 134504),
            (NSStagedMigrationFrameworkVersionMismatchError, 134505), (NSStagedMigrationBackwardMigrationError, 134506),
        ]
        for (constant, number) in codes { #expect(constant == number) }
        #expect(Set(codes.map(\.0)).count == codes.count)
    }

    @Test("Keys of errors: what they stand for in a user info")
    func errorKeys() {
        #expect(NSAffectedStoresErrorKey == "NSAffectedStoresErrorKey")
        #expect(NSAffectedObjectsErrorKey == "NSAffectedObjectsErrorKey")
        #expect(NSPersistentStoreSaveConflictsErrorKey == "conflictList")
        #expect(NSSQLiteErrorDomain == "NSSQLiteErrorDomain")
        #expect(NSPersistentStoreModelVersionChecksumKey == "NSStoreModelVersionChecksumKey")
    }

    @Test("The store types' names")
    func storeTypes() {
        #expect(NSSQLiteStoreType == "SQLite" && NSBinaryStoreType == "Binary" && NSInMemoryStoreType == "InMemory")
        #expect(NSPersistentStore.StoreType.sqlite.rawValue == NSSQLiteStoreType)
        #expect(NSPersistentStore.StoreType.binary.rawValue == NSBinaryStoreType)
        #expect(NSPersistentStore.StoreType.inMemory.rawValue == NSInMemoryStoreType)
    }

    @Test("Version numbers of Core Data ascend, and the current one is the highest")
    func versions() {
        let mac = [
            NSCoreDataVersionNumber10_4, NSCoreDataVersionNumber10_4_3, NSCoreDataVersionNumber10_5,
            NSCoreDataVersionNumber10_5_3, NSCoreDataVersionNumber10_6, NSCoreDataVersionNumber10_6_2,
            NSCoreDataVersionNumber10_6_3, NSCoreDataVersionNumber10_7, NSCoreDataVersionNumber10_7_2,
            NSCoreDataVersionNumber10_7_3, NSCoreDataVersionNumber10_7_4, NSCoreDataVersionNumber10_8,
            NSCoreDataVersionNumber10_8_2, NSCoreDataVersionNumber10_9, NSCoreDataVersionNumber10_9_2,
            NSCoreDataVersionNumber10_9_3, NSCoreDataVersionNumber10_10, NSCoreDataVersionNumber10_10_2,
            NSCoreDataVersionNumber10_10_3, NSCoreDataVersionNumber10_11, NSCoreDataVersionNumber10_11_3,
        ]
        let phone = [
            NSCoreDataVersionNumber_iPhoneOS_3_0, NSCoreDataVersionNumber_iPhoneOS_3_1,
            NSCoreDataVersionNumber_iPhoneOS_3_2, NSCoreDataVersionNumber_iPhoneOS_4_0,
            NSCoreDataVersionNumber_iPhoneOS_4_1, NSCoreDataVersionNumber_iPhoneOS_4_2,
            NSCoreDataVersionNumber_iPhoneOS_4_3, NSCoreDataVersionNumber_iPhoneOS_5_0,
            NSCoreDataVersionNumber_iPhoneOS_5_1, NSCoreDataVersionNumber_iPhoneOS_6_0,
            NSCoreDataVersionNumber_iPhoneOS_6_1, NSCoreDataVersionNumber_iPhoneOS_7_0,
            NSCoreDataVersionNumber_iPhoneOS_7_1, NSCoreDataVersionNumber_iPhoneOS_8_0,
            NSCoreDataVersionNumber_iPhoneOS_8_3, NSCoreDataVersionNumber_iPhoneOS_9_0,
            NSCoreDataVersionNumber_iPhoneOS_9_2, NSCoreDataVersionNumber_iPhoneOS_9_3,
        ]
        // Within a release, 358.12 comes after 358.4.
        let (releases, phoneReleases) = (mac.map { $0.rounded(.down) }, phone.map { $0.rounded(.down) })
        #expect(releases == releases.sorted() && phoneReleases == phoneReleases.sorted())
        #expect((mac + phone).allSatisfy { $0 <= NSCoreDataVersionNumber })
    }
}
