import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel

@Suite("A store whose model has partial indexes and one over SELF")
struct PartialIndexMigrationTests {
    /// As Core Data reads it from an archive: it lists these indexes as compound ones, too, with a name for SELF.
    private func model(_ version: Int) -> NSManagedObjectModel {
        let (rank, title) = (
            Library.attribute("rank", .integer16AttributeType), Library.attribute("title", .stringAttributeType)
        )
        let more = (1..<version).map { Library.attribute("more\($0)", .stringAttributeType) }
        let entity = Library.entity("Task", [rank, title] + more)
        let object = NSExpressionDescription()
        object.name = "expression1"
        object.expression = CoreData.NSExpression.expressionForEvaluatedObject()
        object.expressionResultType = .objectIDAttributeType
        func index(_ name: String, _ properties: NSPropertyDescription...) -> NSFetchIndexDescription {
            NSFetchIndexDescription(
                name: name,
                elements: properties.map { NSFetchIndexElementDescription(property: $0, collationType: .binary) })
        }
        let partial = index("some", rank, title)
        partial.partialIndexPredicate = NSPredicate(format: "rank > 1")
        entity.indexes = [partial, index("bySelf", rank, object)]
        entity.compoundIndexes = [["rank", "self"], ["rank", "title"]]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        return model
    }

    @Test("is migrated twice, by its copy of the model, and has the indexes of a new store")
    func twice() throws {
        let folder = try TestFolder()
        let (store, new) = (folder.file("tasks.sqlite"), folder.file("new.sqlite"))
        for (version, url) in [(1, store), (2, store), (3, store), (3, new)] {
            let container = try Library.stored(at: url, model(version))
            let context = container.newBackgroundContext()
            try context.performAndWait {
                context.make("Task", ["rank": version])
                try context.save()
                #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Task")) >= 1)
            }
            try container.persistentStoreCoordinator.remove(container.persistentStoreCoordinator.persistentStores[0])
        }
        let indexes = "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL ORDER BY name"
        #expect(try plainSQL(indexes, in: store) == plainSQL(indexes, in: new))
        #expect(
            try plainSQL("SELECT name FROM sqlite_master WHERE name GLOB 'Z_Task_*' ORDER BY name", in: store)
                == ["Z_Task_bySelf", "Z_Task_some"])
        #expect(try plainSQL("SELECT ZRANK FROM ZTASK ORDER BY 1", in: store) == ["1", "2", "3"])
    }
}
