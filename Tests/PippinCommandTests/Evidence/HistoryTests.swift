import CoreData
import Foundation
import Pippin
import StoreReading
import TestSupport
import Testing

@testable import PippinCommand

private struct Letter: CoreModel {
    let id: Int
    var subject: String
}

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

    @Test("shows one object's past, with what a program of Pippin's kept of what was before")
    func object() async throws {
        let folder = try TestFolder()
        let file = folder.url.appendingPathComponent("letters.sqlite")
        let store = StoreLocation.file(file, keepsHistory: .always, author: "clerk")
        let manager = PersistenceManager(models: Letter.self, store: store)
        try await manager.save([Letter(id: 1, subject: "Hello"), Letter(id: 2, subject: "Bye")])
        try await manager.save(Letter(id: 1, subject: "Dear Jane"))
        try await manager.delete(Letter.self, id: 1)
        await manager.close()
        let keys = try plainSQL("SELECT ZENTITYPK FROM ACHANGE WHERE ZCHANGETYPE = 2", in: file)
        let letter = "Letter/p\(keys[0])"
        let run = CommandRun("history", file.path, "--of", letter)
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n").filter { $0.hasPrefix("    ") }
        #expect(lines.count == 3 && lines[0] == "    insert   \(letter)")
        #expect(lines[1].contains("subject: ") && lines[1].contains("Hello") && lines[1].hasSuffix(" before"))
        #expect(lines[2].hasPrefix("    delete   \(letter)   ") && lines[2].contains("Dear Jane"))
        #expect(!run.output.contains("Bye"))
        let json = CommandRun("history", file.path, "--json", "--of", letter).output.split(separator: "\n")
        #expect(json.count == 3 && json[1].contains("\"former\": {\"subject\": \"Hello\"}"))
        #expect(CommandRun("history", file.path, "--of", "Letter/p99").errors.contains("has no changes of Letter/p99"))
        #expect(CommandRun("history", file.path, "--of", "Letter 1").errors.contains("is not an object"))
    }

    @Test("goes on with what is saved later", .ownThread)
    func following() async throws {
        let folder = try TestFolder()
        let file = folder.url.appendingPathComponent("letters.sqlite")
        let manager = PersistenceManager(models: Letter.self, store: .file(file, keepsHistory: .always))
        try await manager.save(Letter(id: 1, subject: "Hello"))
        let opened = try DirectStore(DirectStore.Opening(path: file.path, modelPath: nil))
        struct Enough: Error {}
        var kinds: [String] = []
        #expect(throws: Enough.self) {
            try HistoryText.write(opened, asJSON: true, ValueStyle(), follows: true) { line in
                kinds.append(line.contains("\"insert\"") ? "insert" : "update")
                if kinds.count == 1 { try manager.writeAndWait { try $0.save(Letter(id: 1, subject: "Bye")) } }
                if kinds.count == 2 { throw Enough() }
            }
        }
        #expect(kinds == ["insert", "update"])
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
