import CoreData
import Foundation
import TestSupport
import Testing

/// A store in a file with the library's model, and a context of a private queue.
final class BatchStore {
    let folder: TestFolder
    let url: URL
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init(_ model: NSManagedObjectModel = Library.model(), options: [String: NSObject] = [:]) throws {
        folder = try TestFolder()
        url = folder.file("library.sqlite")
        let description = NSPersistentStoreDescription(url: url)
        for (key, value) in options { description.setOption(value, forKey: key) }
        container = try Library.container(model, description)
        context = container.newBackgroundContext()
    }

    /// What plain SQL finds in the file.
    func rows(_ sql: String) throws -> [String] { try plainSQL(sql, in: url) }

    /// Runs a request and gives its result.
    func execute<Result: NSPersistentStoreResult>(
        _ request: NSPersistentStoreRequest, _ type: Result.Type = Result.self
    ) throws -> Result {
        try context.performAndWait { try #require(try context.execute(request) as? Result) }
    }

    /// Inserts objects and saves.
    func save(_ body: (NSManagedObjectContext) -> Void) throws {
        try context.performAndWait {
            body(context)
            try context.save()
        }
    }

    /// A model with one entity `Item` whose `code` is unique.
    static func uniqueModel() -> NSManagedObjectModel {
        let item = Library.entity(
            "Item",
            [
                Library.attribute("code", .stringAttributeType),
                Library.attribute("title", .stringAttributeType),
                Library.attribute("stars", .integer64AttributeType, defaultValue: 3),
                Library.attribute("isKept", .booleanAttributeType, defaultValue: false),
            ])
        item.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }
}
