import CoreData
import Testing

@Suite("Error codes") struct ErrorCodeTests {
    @Test("A catch names the code of a validation error") func catchByCode() throws {
        let context = try Library.inMemory().newBackgroundContext()
        try context.performAndWait {
            context.make("Author")
            do {
                try context.save()
                Issue.record("an author without a name was saved")
            } catch CocoaError.validationMissingMandatoryProperty {
                return
            }
        }
    }

    @Test("A validation error has its object, key and value as properties") func validationProperties() throws {
        let context = try Library.inMemory().newBackgroundContext()
        context.performAndWait {
            let author = context.make("Author")
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .validationMissingMandatoryProperty)
            #expect(error?.validationKey == "name")
            #expect(error?.validationObject as? NSManagedObject === author)
            #expect(error?.validationPredicate == nil)
        }
    }

    @Test("The conflicts of a save are a property of its error") func conflicts() throws {
        let container = try Library.inMemory()
        let first = container.newBackgroundContext()
        let second = container.newBackgroundContext()
        try first.performAndWait {
            first.make("Author", ["name": "Ada"])
            try first.save()
        }
        try second.performAndWait {
            let author = try #require(second.all("Author").first)
            author.setValue("Ada L.", forKey: "name")
            try first.performAndWait {
                try first.all("Author").first?.setValue("Ada Lovelace", forKey: "name")
                try first.save()
            }
            let error = #expect(throws: CocoaError.self) { try second.save() }
            #expect(error?.code == .managedObjectMerge)
            #expect(error?.userInfo["conflictList"] != nil || error?.persistentStoreSaveConflicts != nil)
        }
    }

    @Test(
        "Constants, codes and statics have the same number",
        arguments: [
            (NSManagedObjectValidationError, CocoaError.managedObjectValidation, 1550),
            (NSManagedObjectConstraintMergeError, CocoaError.managedObjectConstraintMerge, 133021),
            (NSPersistentStoreIncompatibleVersionHashError, .persistentStoreIncompatibleVersionHashError, 134100),
            (NSEntityMigrationPolicyError, CocoaError.entityMigrationPolicy, 134170),
            (NSSQLiteError, CocoaError.sqlite, 134180),
        ])
    func numbers(constant: Int, code: CocoaError.Code, number: Int) {
        #expect(constant == number)
        #expect(code.rawValue == number)
    }

    @Test("The version of Core Data is later than those that have names") func version() {
        #expect(NSCoreDataVersionNumber > NSCoreDataVersionNumber10_11_3)
        #expect(NSCoreDataVersionNumber_iPhoneOS_9_3 == 641.6)
    }
}
