import CoreData
import Foundation
import Testing

@Suite("The removal of an entity to whose objects a relationship of its parent leads")
struct RemovedSubentityTests {
    private let store: MigratingStore

    init() throws { store = try MigratingStore() }

    private func model(_ subentities: String..., mandatory: Bool) -> NSManagedObjectModel {
        let author = makeToOne("author", "Person", inverse: nil)
        author.isOptional = !mandatory
        let people = subentities.map { makeEntity($0) }
        let person = makeEntity("Person", makeAttribute("name", .stringAttributeType))
        person.subentities = people
        let model = NSManagedObjectModel()
        model.entities =
            [person, makeEntity("Book", makeAttribute("name", .stringAttributeType), author)] + people
        return model
    }

    private func fill(_ model: NSManagedObjectModel, _ author: String, _ way: MigratingStore.Way) throws {
        try store.migrated(way).open(model) { context in
            let ghost = context.make("Ghost", ["name": "Ann"])
            let bob = context.make("Author", ["name": "Bob"])
            context.make("Book", ["name": "A", "author": author == "Ghost" ? ghost : bob])
            context.make("Book", ["name": "B", "author": bob])
        }
    }

    @Test("empties an optional one", arguments: MigratingStore.Way.allCases)
    func optional(_ way: MigratingStore.Way) throws {
        let old = model("Author", "Ghost", mandatory: false)
        try fill(old, "Ghost", way)
        try store.migrated(way).migrate(way, from: old, to: model("Author", mandatory: false)) { context in
            let authors = try context.all("Book", by: "name").map { $0.names("author") }
            #expect(authors == [[], ["Bob"]])
        }
    }

    @Test("stops where a mandatory one would be empty, and leaves the store", arguments: MigratingStore.Way.allCases)
    func mandatory(_ way: MigratingStore.Way) throws {
        let old = model("Author", "Ghost", mandatory: true)
        try fill(old, "Ghost", way)
        let store = store.migrated(way)
        let error = #expect(throws: NSError.self) {
            try store.migrate(way, from: old, to: model("Author", mandatory: true))
        }
        if way == .inPlace {
            #expect(error?.code == 134110)
            #expect(error?.localizedDescription.contains("“Book.author”") == true)
        }
        let authors = try store.open(old) { try $0.all("Book", by: "name").map { $0.names("author") } }
        #expect(authors == [["Ann"], ["Bob"]])
    }

    @Test("lets a mandatory one be that leads to others", arguments: MigratingStore.Way.allCases)
    func unaffected(_ way: MigratingStore.Way) throws {
        let old = model("Author", "Ghost", mandatory: true)
        try fill(old, "Author", way)
        try store.migrated(way).migrate(way, from: old, to: model("Author", mandatory: true)) { context in
            let authors = try context.all("Book", by: "name").map { $0.names("author") }
            #expect(authors == [["Bob"], ["Bob"]])
        }
    }
}
