import CoreDataPostgres
import Foundation
import MigrationPlans
import PostgresConnection
import PostgresEngine
import PostgresServer
import Testing

@Suite("A migration in PostgreSQL as statements for the owner of the tables", .needsPostgres)
struct ScriptedMigrationTests {
    private let database: TestDatabase
    private let former = Self.model("title")

    init() throws { database = try TestDatabase() }

    private static func model(
        _ names: String..., renamed: Bool = false, derived: Bool = false
    ) -> NSManagedObjectModel {
        let book = NSEntityDescription()
        book.name = "Book"
        book.properties = names.map { name in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
            attribute.preservesValueInHistoryOnDeletion = true
            if renamed { attribute.renamingIdentifier = "title" }
            return attribute
        }
        if derived {
            let search = NSDerivedAttributeDescription()
            (search.name, search.attributeType, search.isOptional) = ("search", .stringAttributeType, true)
            search.derivationExpression = NSExpression(format: "canonical:(title)")
            book.properties.append(search)
        }
        let model = NSManagedObjectModel()
        model.entities = [book]
        return model
    }

    /// Fills the store with a book, after another one that is deleted.
    private func fill(_ model: NSManagedObjectModel, deletes: Bool = false) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(),
            options: [
                NSPersistentHistoryTrackingKey: true, NSMigratePersistentStoresAutomaticallyOption: true,
                NSInferMappingModelAutomaticallyOption: true,
            ])
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let book = context.insert("Book", ["title": "A"])
        try context.save()
        if deletes {
            context.delete(book)
            try context.save()
        }
        try coordinator.remove(store)
    }

    private func script(to model: NSManagedObjectModel) throws -> String {
        try PostgresFormat.script(
            of: InferredMigration(from: former, to: model, plan: try MappingInference.plan(from: former, to: model)),
            at: database.url())
    }

    private func columns() throws -> [[String]] {
        try database.rows(
            "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'book' "
                + "AND column_name NOT LIKE '\\_%' ORDER BY 1")
    }

    @Test("makes all of it")
    func complete() throws {
        try fill(former)
        try database.connect().execute(script(to: Self.model("heading", renamed: true)))
        #expect(try columns() == [["heading"]])
    }

    @Test("fails if the store has been migrated since, and leaves it")
    func overtaken() throws {
        try fill(former)
        let script = try script(to: Self.model("title", "subtitle"))
        try fill(Self.model("title", "year"))
        let error = #expect(throws: (any Error).self) { try database.connect().execute(script) }
        #expect(error.map { "\($0)".contains("after these statements were planned") } == true)
        #expect(try columns() == [["title"], ["year"]])
    }

    @Test("is refused where a program computes the values of a derived attribute, which is named")
    func derived() throws {
        try fill(former)
        let error = #expect(throws: NSError.self) { try script(to: Self.model("title", derived: true)) }
        #expect(error?.code == 134110)
        #expect(error?.localizedDescription.contains("“Book.search”") == true)
    }

    @Test("is refused where the history keeps values of deleted objects under former names")
    func tombstones() throws {
        try fill(former, deletes: true)
        let error = #expect(throws: NSError.self) { try script(to: Self.model("heading", renamed: true)) }
        #expect(error?.code == 134110)
        #expect(error?.localizedDescription.contains("“Book”") == true)
    }
}
