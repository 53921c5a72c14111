import CoreData
import Foundation
import Testing

@testable import CoreDataModel
@testable import MigrationPlans

@Suite("The elements of a composite attribute, migrated")
struct CompositeMigrationTests {
    private let store: MigratingStore

    init() throws { store = try MigratingStore() }

    /// People with an address of such elements, and perhaps an age.
    private func model(_ elements: NSAttributeDescription..., aged: Bool = false) -> NSManagedObjectModel {
        let address = NSCompositeAttributeDescription()
        (address.name, address.isOptional) = ("address", true)
        address.elements = elements
        let person = makeEntity("Person", makeAttribute("name", .stringAttributeType), address)
        if aged { person.properties.append(makeAttribute("age", .integer16AttributeType)) }
        return makeModel(person)
    }

    private func text(_ name: String, from identifier: String? = nil) -> NSAttributeDescription {
        let attribute = makeAttribute(name, .stringAttributeType)
        attribute.renamingIdentifier = identifier
        return attribute
    }

    private func fill(_ model: NSManagedObjectModel, _ address: [String: Any]) throws {
        try store.open(model) { context in
            context.make("Person", ["name": "Ann", "address": address])
            context.make("Person", ["name": "Bob"])
        }
    }

    private func address(_ context: NSManagedObjectContext, of name: String = "Ann") throws -> [String: AnyHashable]? {
        try context.all("Person", NSPredicate(format: "name == %@", name)).first?.value(forKey: "address")
            as? [String: AnyHashable]
    }

    @Test("Renamed elements keep their values, in all later migrations, too")
    func renamed() throws {
        try fill(model(text("street"), text("zip")), ["street": "Main", "zip": "AB12"])
        let expected: [String: AnyHashable] = ["road": "Main", "zip": "AB12"]
        #expect(try store.open(model(text("road", from: "street"), text("zip"))) { try address($0) } == expected)
        try store.open(model(text("road", from: "street"), text("zip"), aged: true)) { context in
            let (found, none) = try (address(context), address(context, of: "Bob"))
            #expect(found == expected)
            #expect(none == nil)
        }
    }

    @Test("Elements that were exchanged are not exchanged again by the next migration, which keeps the identifiers")
    func exchanged() throws {
        try fill(model(text("street"), text("zip")), ["street": "Main", "zip": "AB12"])
        let expected: [String: AnyHashable] = ["street": "AB12", "zip": "Main"]
        // Identifiers alone make no other version, so there is a new attribute each time.
        for isNoted in [false, true] {
            let new = model(text("street", from: "zip"), text("zip", from: "street"), aged: true)
            if isNoted { new.add(makeAttribute("note", .stringAttributeType), to: "Person") }
            #expect(try store.open(new) { try address($0) } == expected)
        }
    }

    @Test("An element of a composite element is found by its identifier as well")
    func nested() throws {
        func model(_ name: String, aged: Bool = false) -> NSManagedObjectModel {
            let place = NSCompositeAttributeDescription()
            (place.name, place.isOptional) = ("place", true)
            place.elements = [text(name, from: "street")]
            return self.model(place, aged: aged)
        }
        try fill(model("street"), ["place": ["street": "Main"]])
        try store.open(model("road"))
        try store.open(model("road", aged: true)) { context in
            let place = try context.all("Person", by: "name")[0].value(forKeyPath: "address.place.road")
            #expect(place as? String == "Main")
        }
    }

    @Test("Object by object, elements are renamed, removed and added with their default values, as in place")
    func objects() throws {
        let (old, new) = (
            model(text("street"), text("zip")), model(text("road", from: "street"), text("country"))
        )
        let country = new.attribute("Person", "address") as? NSCompositeAttributeDescription
        country?.elements[1].defaultValue = "UK"
        try fill(old, ["street": "Main", "zip": "AB12"])
        func check(_ context: NSManagedObjectContext) throws {
            #expect(try address(context) == ["road": "Main", "country": "UK"])
            #expect(try address(context, of: "Bob") == nil)
        }
        try store.migrateObjects(from: old, to: new, check)
        try store.open(new, check)
    }

    @Test("An element whose type changes to one that its values are not of cannot be inferred: 134190 names it")
    func types() throws {
        let (old, new) = (
            model(text("street"), text("zip")),
            model(text("street"), makeAttribute("zip", .integer16AttributeType))
        )
        try fill(old, ["street": "Main", "zip": "AB12"])
        let error = #expect(throws: NSError.self) { try store.open(new) }
        #expect(error?.innermost.code == 134190)
        #expect(error?.innermost.userInfo["property"] as? String == "address.zip")
        let found = try store.open(old) { try address($0) }
        #expect(found == ["street": "Main", "zip": "AB12"])
    }

    @Test("A number of an element that does not fit its new type stops the migration, which names the element")
    func numbers() throws {
        func model(_ type: NSAttributeType) -> NSManagedObjectModel {
            self.model(makeAttribute("zip", type), aged: type == .integer16AttributeType)
        }
        try fill(model(.integer32AttributeType), ["zip": 99_999])
        let error = #expect(throws: NSError.self) { try store.open(model(.integer16AttributeType)) }
        #expect(error?.code == 134110)
        #expect(error?.localizedDescription.contains("“Person.address.zip”") == true)
        let zip = try store.open(model(.integer64AttributeType)) { context in
            try context.all("Person", by: "name")[0].value(forKeyPath: "address.zip") as? Int
        }
        #expect(zip == 99_999)
    }

    @Test("A program's structs may rename elements: nothing is lost by it")
    func reconciled() throws {
        let stored = try ModelDocument(model(text("street"), text("zip")))
        let program = try ModelDocument(model(text("road", from: "street"), text("zip")))
        #expect(ModelReconciliation(program: program, stored: stored, rules: .init()).losses.isEmpty)
        let back = ModelReconciliation(program: stored, stored: program, rules: .init()).losses
        #expect(back.map(\.property) == ["address.road"])
        #expect(back.first?.reason == .renamedSince("address.street"))
    }
}
