import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel

@Suite("A migration with triggers of somebody else's")
struct ForeignTriggerTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try Town.makeStore(at: folder.store)
        try execute("CREATE TABLE NOTES (TEXT VARCHAR)", in: folder.store)
    }

    private func migrate(to model: NSManagedObjectModel) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        try coordinator.remove(store)
    }

    /// People's table is made anew, and the houses' rows are changed in their table.
    private func changed() -> NSManagedObjectModel {
        let model = Town.model()
        model.removeProperty("age", of: "Person")
        let floors = makeAttribute("floors", .integer16AttributeType)
        (floors.isOptional, floors.defaultValue) = (false, 1)
        model.add(floors, to: "House")
        return model
    }

    private func triggers() throws -> [String] {
        try plainSQL("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name", in: folder.store)
    }

    @Test("are made again, without firing, if they are on another table and name one that is made anew")
    func named() throws {
        try execute(
            "CREATE TRIGGER COUNTED AFTER UPDATE ON ZHOUSE BEGIN INSERT INTO NOTES SELECT COUNT(*) FROM zperson; END",
            in: folder.store)
        try execute(
            "CREATE TRIGGER TOLD AFTER INSERT ON NOTES BEGIN UPDATE \"ZPERSON\" SET ZNICK = NEW.TEXT; END",
            in: folder.store)
        try migrate(to: changed())
        #expect(try plainSQL("SELECT TEXT FROM NOTES", in: folder.store) == [])
        try execute("UPDATE ZHOUSE SET ZFLOORS = 2 WHERE ZSTREET = 'Elm'", in: folder.store)
        #expect(try plainSQL("SELECT DISTINCT ZNICK FROM ZPERSON", in: folder.store) == ["3"])
        #expect(try triggers() == ["COUNTED", "TOLD"])
    }

    @Test("does not have those fire whose table stays, though its rows change")
    func kept() throws {
        try execute(
            "CREATE TRIGGER MINE AFTER UPDATE ON ZHOUSE BEGIN INSERT INTO NOTES VALUES ('x'); END", in: folder.store)
        try migrate(to: changed())
        #expect(try plainSQL("SELECT TEXT FROM NOTES", in: folder.store) == [])
        try execute("UPDATE ZHOUSE SET ZFLOORS = 2 WHERE ZSTREET = 'Elm'", in: folder.store)
        #expect(try plainSQL("SELECT TEXT FROM NOTES", in: folder.store) == ["x"])
    }

    @Test("keeps those that write their table's name in small letters")
    func smallLetters() throws {
        try execute(
            "CREATE TRIGGER mine AFTER UPDATE ON zperson BEGIN INSERT INTO notes VALUES (NEW.zname); END",
            in: folder.store)
        try migrate(to: changed())
        #expect(try plainSQL("SELECT TEXT FROM NOTES", in: folder.store) == [])
        try execute("UPDATE ZPERSON SET ZNICK = 'x' WHERE ZNAME = 'Ann'", in: folder.store)
        #expect(try plainSQL("SELECT TEXT FROM NOTES", in: folder.store) == ["Ann"])
    }

    @Test("stop the migration, with the trigger's name, if they name a table that is gone")
    func gone() throws {
        try execute(
            "CREATE TRIGGER FITS AFTER UPDATE ON ZPET BEGIN INSERT INTO NOTES VALUES ('ZPERSON'); END", in: folder.store
        )
        try execute(
            "CREATE TRIGGER MINE AFTER UPDATE ON ZHOUSE BEGIN INSERT INTO NOTES SELECT COUNT(*) FROM ZPERSON; END",
            in: folder.store)
        let model = Town.model()
        model.entity("Person").name = "Human"
        model.entity("Human").renamingIdentifier = "Person"
        let error = #expect(throws: NSError.self) { try migrate(to: model) }
        #expect(error?.code == CoreDataErrorCode.migration)
        let text = error?.localizedDescription ?? ""
        #expect(text.contains("“MINE”") && text.contains("no such table: main.ZPERSON"), "\(text)")
        #expect(error?.localizedRecoverySuggestion?.contains("trigger") == true)
        #expect(try triggers() == ["FITS", "MINE"])
        #expect(try plainSQL("SELECT COUNT(*) FROM ZPERSON", in: folder.store) == ["3"])
    }
}
