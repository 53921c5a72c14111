import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel

@Suite("Triggers that report a column, as those with which Photos counts")
struct ColumnTriggerTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// People, some of them friends, with faces. No attribute is derived.
    private func model() -> NSManagedObjectModel {
        let friend = makeEntity("Friend", makeAttribute("seen", .doubleAttributeType))
        return makeModel(
            makeEntity(
                "Person", makeAttribute("name", .stringAttributeType),
                makeAttribute("faceCount", .integer32AttributeType),
                // It is called like a column.
                makeAttribute("ZFACECOUNT", .stringAttributeType), makeToMany("faces", "Face", inverse: "person")
            ).with(sub: friend), friend,
            makeEntity(
                "Face", makeAttribute("hidden", .booleanAttributeType), makeToOne("person", "Person", inverse: "faces"))
        )
    }

    private func makeStore() throws {
        let container = try Library.stored(at: folder.store, model())
        try container.persistentStoreCoordinator.remove(container.persistentStoreCoordinator.persistentStores[0])
        func report(_ column: String, _ value: String, _ occasion: String, _ row: String) throws {
            try execute(
                """
                CREATE TRIGGER ZT_ZPERSON_\(column)_ZFACE_\(occasion) AFTER \(occasion) ON ZFACE FOR EACH ROW BEGIN \
                UPDATE ZPERSON SET \(column) = IFNULL(\(column), 0) \(value) WHERE \(row).ZPERSON = Z_PK; \
                SELECT NSCoreDataTriggerUpdateAffectedObjectValue('ZPERSON', Z_ENT, Z_PK, '\(column)', \(column)) \
                FROM ZPERSON WHERE Z_PK = \(row).ZPERSON; END
                """, in: folder.store)
        }
        try report("ZFACECOUNT", "+ 1", "INSERT", "NEW")
        try report("ZFACECOUNT", "- 1", "DELETE", "OLD")
        try report("ZSEEN", "+ 0.5", "INSERT", "NEW")
    }

    @Test("give the objects the values that they wrote, subentities' too")
    func values() throws {
        try makeStore()
        let context = try Library.stored(at: folder.store, model()).newBackgroundContext()
        try context.performAndWait {
            let person = context.make("Person", ["name": "Ann"])
            let friend = context.make("Friend", ["name": "Bob"])
            try context.save()
            let face = context.make("Face", ["person": person])
            for _ in 0..<2 { context.make("Face", ["person": friend]) }
            try context.save()
            #expect(person.value(forKey: "faceCount") as? Int == 1)
            #expect(friend.value(forKey: "faceCount") as? Int == 2)
            #expect(friend.value(forKey: "seen") as? Double == 1)
            #expect(friend.value(forKey: "ZFACECOUNT") == nil)
            #expect(!context.hasChanges && person.changedValues().isEmpty)
            context.delete(face)
            person.setValue("Eve", forKey: "name")
            try context.save()
            #expect(person.value(forKey: "faceCount") as? Int == 0)
        }
        #expect(
            try plainSQL("SELECT ZNAME, ZFACECOUNT, ZSEEN FROM ZPERSON ORDER BY 1", in: folder.store)
                == ["Bob|2|1.0", "Eve|0|0.5"])
    }
}
