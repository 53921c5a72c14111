import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Note: CoreModel {
    let id: String
    var title: String
}

@Suite("Structs in a store whose history keeps attributes of deleted objects")
struct PreservedAttributeTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// The store as the program that wants to know the titles opens it, with no migration.
    private func open() throws -> NSManagedObjectContext {
        func attribute(_ name: String) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, false)
            return attribute
        }
        let title = attribute("title")
        title.preservesValueInHistoryOnDeletion = true
        let note = NSEntityDescription()
        note.name = "Note"
        note.properties = [attribute("id"), title]
        note.uniquenessConstraints = [["id"]]
        let model = NSManagedObjectModel()
        model.entities = [note]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("leave the store's version, and keep the attributes of what they delete")
    func deleting() async throws {
        do {
            let context = try open()
            try context.performAndWait {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue("1", forKey: "id")
                note.setValue("Milk", forKey: "title")
                try context.save()
            }
            for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
                try context.persistentStoreCoordinator?.remove(store)
            }
        }
        let manager = PersistenceManager(models: [Note.self], store: .file(folder.store))
        manager.container.persistentStoreDescriptions.first?.setOption(
            true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        try await manager.delete(Note.self, id: "1")
        await manager.close()
        let context = try open()
        try context.performAndWait {
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            request.resultType = .changesOnly
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let changes = try #require(result?.result as? [NSPersistentHistoryChange])
            #expect(changes.last?.changeType == .delete)
            #expect(changes.last?.tombstone as? [String: String] == ["title": "Milk"])
        }
    }
}
