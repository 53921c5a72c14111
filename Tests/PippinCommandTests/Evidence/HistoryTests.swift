import CoreData
import Foundation
import TestSupport
import Testing

@testable import PippinCommand

@Suite("pippin history")
struct HistoryTests {
    /// A store in which a letter was made, changed and deleted, each by an author.
    private func makeStore(at url: URL) throws {
        func attribute(_ name: String, isPreserved: Bool = false) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
            attribute.preservesValueInHistoryOnDeletion = isPreserved
            return attribute
        }
        let entity = NSEntityDescription()
        entity.name = "Letter"
        entity.properties = [attribute("subject", isPreserved: true), attribute("text")]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            context.transactionAuthor = "writer"
            let letter = NSEntityDescription.insertNewObject(forEntityName: "Letter", into: context)
            letter.setValue("Hello", forKey: "subject")
            try context.save()
            letter.setValue("Dear Jane", forKey: "text")
            try context.save()
            context.transactionAuthor = "cleaner"
            context.delete(letter)
            try context.save()
        }
        try coordinator.remove(store)
    }

    @Test("says who made, changed and deleted an object, with the properties and with what a deletion preserved")
    func changes() throws {
        try inTestFolder { folder in
            let store = folder.appendingPathComponent("letters.sqlite")
            try makeStore(at: store)
            let run = CommandRun("history", store.path, "--json")
            #expect(run.status == 0, "\(run.errors)")
            let changes = try run.output.split(separator: "\n").map {
                try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
            }
            #expect(changes.map { $0["change"] as? String } == ["insert", "update", "delete"])
            #expect(changes.map { $0["author"] as? String } == ["writer", "writer", "cleaner"])
            #expect(changes[1]["changed"] as? [String] == ["text"])
            #expect(changes[2]["preserved"] as? [String: String] == ["subject": "Hello"])
            let text = CommandRun("history", store.path).output
            #expect(text.contains("    delete   Letter/p1   subject: \"Hello\"\n") || text.contains("subject: “Hello”"))
        }
    }

    @Test("recover has the deletions of a history among what it finds")
    func deletions() throws {
        try inTestFolder { folder in
            let store = folder.appendingPathComponent("letters.sqlite")
            try makeStore(at: store)
            let output = folder.appendingPathComponent("found")
            #expect(CommandRun("recover", store.path, "-o", output.path).status == 0)
            let lines = try String(contentsOf: output.appendingPathComponent("objects.jsonl"), encoding: .utf8)
            #expect(
                lines.split(separator: "\n").contains {
                    $0.hasPrefix("{\"origin\": \"history\", \"change\": \"delete\"")
                        && $0.contains("\"author\": \"cleaner\"")
                        && $0.contains("\"properties\": {\"subject\": \"Hello\"}")
                })
        }
    }

    @Test("names a store without a history")
    func noHistory() throws {
        let store = try SmallStore()
        let run = CommandRun("history", store.path)
        #expect(run.status == 1)
        #expect(run.errors.contains("keeps no history"))
    }
}
