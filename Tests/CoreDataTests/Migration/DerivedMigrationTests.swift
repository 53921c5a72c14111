import CoreData
import Foundation
import Testing

@Suite("Derived attributes whose attribute gets other values by a migration")
struct DerivedMigrationTests {
    private let store: MigratingStore

    init() throws { store = try MigratingStore() }

    private func model(
        _ name: NSAttributeDescription, _ nick: NSAttributeDescription, _ derivation: String = "uppercase:(name)",
        _ type: NSAttributeType = .stringAttributeType, further: Bool = false
    ) -> NSManagedObjectModel {
        let person = makeEntity(
            "Person", name, nick, makeAttribute("number", .integer16AttributeType),
            makeDerived("shown", type, NSExpression(format: derivation)))
        if further { person.properties.append(makeAttribute("further", .stringAttributeType)) }
        return makeModel(person)
    }

    private func text(_ name: String) -> NSAttributeDescription { makeAttribute(name, .stringAttributeType) }

    private func shown(_ model: NSManagedObjectModel) throws -> [String] {
        var found: [String] = []
        try store.open(model) { context in
            found = try context.all("Person", by: "number").map { "\($0.value(forKey: "shown") ?? "none")" }
        }
        return found
    }

    private func fill(_ model: NSManagedObjectModel) throws {
        try store.open(model) { context in
            context.make("Person", ["number": 1, "name": "Ann", "nick": "A"])
            context.make("Person", ["number": 2, "nick": "B"])
        }
    }

    @Test("A default value that it gets is what they are computed from")
    func defaultValue() throws {
        try fill(model(text("name"), text("nick")))
        let name = text("name")
        (name.isOptional, name.defaultValue) = (false, "anon")
        #expect(try shown(model(name, text("nick"))) == ["ANN", "ANON"])
    }

    @Test("So are the values of another attribute that took its name")
    func exchanged() throws {
        try fill(model(text("name"), text("nick")))
        let new = model(text("name").renamed(from: "nick"), text("nick").renamed(from: "name"), further: true)
        #expect(try shown(new) == ["A", "B"])
    }

    @Test("So are converted numbers")
    func converted() throws {
        let number = { makeAttribute("name", $0) }
        try store.open(model(number(.doubleAttributeType), text("nick"), "name", .doubleAttributeType)) { context in
            context.make("Person", ["number": 1, "name": 3.7])
        }
        #expect(
            try shown(model(number(.integer32AttributeType), text("nick"), "name", .doubleAttributeType))
                .map { Double($0) } == [3])
    }
}
