import CoreData
import Foundation
import Testing

@Suite("What a store of a configuration holds, after a migration")
struct LeftConfigurationTests {
    private var store: MigratingStore

    init() throws {
        store = try MigratingStore()
        store.configuration = "Cloud"
    }

    /// Notes with urgent ones, and drafts; the second version has a further attribute.
    private func model(
        _ version: Int, cloud: [String] = ["Note"], urgent: String = "Urgent"
    ) -> NSManagedObjectModel {
        let note = makeEntity("Note", makeAttribute("name", .stringAttributeType))
        if version > 1 { note.properties.append(makeAttribute("place", .stringAttributeType)) }
        let further = makeEntity(urgent, makeAttribute("day", .dateAttributeType))
        if urgent != "Urgent" { further.renamingIdentifier = "Urgent" }
        note.subentities = [further]
        let draft = makeEntity("Draft", makeAttribute("name", .stringAttributeType))
        let model = makeModel(note, further, draft)
        model.setEntities(cloud.map(model.entity), forConfigurationName: "Cloud")
        model.setEntities([model.entity("Draft")], forConfigurationName: "Local")
        return model
    }

    private func expectNotes(_ model: NSManagedObjectModel, _ names: [String]) throws {
        let found = try store.open(model) { try $0.all("Note", by: "name").map { $0.entity.name } }
        #expect(found == names)
    }

    @Test(
        "The objects of a subentity that the configuration does not list are kept, whatever its name",
        arguments: ["Urgent", "Pressing"])
    func subentity(name: String) throws {
        try store.open(model(1, cloud: ["Note", "Urgent"])) { context in
            context.make("Note", ["name": "1"])
            context.make("Urgent", ["name": "2"])
        }
        let new = model(2, urgent: name)
        try expectNotes(new, ["Note", name])
        // The store fits now.
        try expectNotes(new, ["Note", name])
    }

    @Test("An entity that moves to another configuration does not lose its objects: the migration stops with 134110")
    func moved() throws {
        let old = model(1, cloud: ["Note", "Urgent", "Draft"])
        try store.open(old) { $0.make("Draft", ["name": "1"]) }
        let error = #expect(throws: NSError.self) { try store.open(model(2, cloud: ["Note", "Urgent"])) }
        #expect(error?.code == 134110)
        #expect(error?.localizedDescription.contains("“Draft”") == true)
        #expect(error?.localizedRecoverySuggestion?.contains("configuration") == true)
        #expect(try store.open(old) { try $0.all("Draft").count } == 1)
    }

    @Test("An entity without objects may move to another configuration")
    func empty() throws {
        try store.open(model(1, cloud: ["Note", "Urgent", "Draft"])) { $0.make("Note", ["name": "1"]) }
        try expectNotes(model(2, cloud: ["Note", "Urgent"]), ["Note"])
    }

    @Test("A store that is added with the wrong configuration keeps its objects")
    func wrong() throws {
        let model = model(1, cloud: ["Note", "Urgent"])
        try store.open(model) { $0.make("Note", ["name": "1"]) }
        var other = store
        other.configuration = "Local"
        let error = #expect(throws: NSError.self) { try other.open(model) }
        #expect(error?.code == 134110)
        try expectNotes(model, ["Note"])
    }
}
