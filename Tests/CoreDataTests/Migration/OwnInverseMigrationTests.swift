import CoreData
import Foundation
import Testing

@Suite("A relationship that becomes its own inverse")
struct OwnInverseMigrationTests {
    private let store: MigratingStore

    init() throws { store = try MigratingStore() }

    private func model(_ relationships: NSRelationshipDescription...) -> NSManagedObjectModel {
        let person = makeEntity("Person", makeAttribute("name", .stringAttributeType))
        person.properties += relationships
        return makeModel(person)
    }

    private func spouse(_ inverse: String?) -> NSRelationshipDescription {
        makeToOne("spouse", "Person", inverse: inverse)
    }

    private func friends(_ inverse: String?, isOrdered: Bool = false) -> NSRelationshipDescription {
        makeToMany("friends", "Person", inverse: inverse, ordered: isOrdered)
    }

    /// Fills the store with persons who lead to others.
    private func fill(
        _ model: NSManagedObjectModel, _ spouses: KeyValuePairs<String, String>, for way: MigratingStore.Way
    ) throws {
        try store.migrated(way).open(model) { context in
            let names = Set(spouses.flatMap { [$0.key, $0.value] }).sorted()
            let made = Dictionary(uniqueKeysWithValues: names.map { ($0, context.make("Person", ["name": $0])) })
            for (name, other) in spouses { made[name]?.setValue(made[other], forKey: "spouse") }
        }
    }

    private func others(_ context: NSManagedObjectContext, _ relationship: String = "spouse") throws -> [[String]] {
        try context.all("Person", by: "name").map { $0.names(relationship) }
    }

    @Test("A to-one relationship leads back from the other object", arguments: MigratingStore.Way.allCases)
    func toOne(_ way: MigratingStore.Way) throws {
        try fill(model(spouse(nil)), ["Ann": "Bob", "Cid": "Cid", "Dan": "Eve", "Eve": "Dan"], for: way)
        try store.migrated(way).migrate(way, from: model(spouse(nil)), to: model(spouse("spouse"))) { context in
            let found = try others(context)
            #expect(found == [["Bob"], ["Ann"], ["Cid"], ["Eve"], ["Dan"]])
        }
    }

    @Test("One that had another inverse does so, too", arguments: MigratingStore.Way.allCases)
    func otherInverse(_ way: MigratingStore.Way) throws {
        let old = { model(spouse("lover"), makeToOne("lover", "Person", inverse: "spouse")) }
        try fill(old(), ["Ann": "Bob"], for: way)
        try store.migrated(way).migrate(way, from: old(), to: model(spouse("spouse"))) { context in
            let found = try others(context)
            #expect(found == [["Bob"], ["Ann"]])
        }
    }

    @Test(
        "Where it would have several objects in one place, the migration stops: 134110",
        arguments: MigratingStore.Way.allCases,
        [["Ann": "Cid", "Bob": "Cid"], ["Ann": "Bob", "Bob": "Cid"]] as [KeyValuePairs<String, String>])
    func several(_ way: MigratingStore.Way, _ spouses: KeyValuePairs<String, String>) throws {
        try fill(model(spouse(nil)), spouses, for: way)
        let store = store.migrated(way)
        let error = #expect(throws: NSError.self) {
            try store.migrate(way, from: model(spouse(nil)), to: model(spouse("spouse")))
        }
        #expect(error?.code == 134110)
        #expect(error?.localizedDescription.contains("“Person.spouse” leads to p") == true)
        #expect(try store.open(model(spouse(nil))) { try others($0).flatMap { $0 }.count } == 2)
    }

    @Test("A to-many relationship has the pairs from both sides", arguments: MigratingStore.Way.allCases)
    func toMany(_ way: MigratingStore.Way) throws {
        try store.migrated(way).open(model(friends(nil))) { context in
            let made = ["Ann", "Bob", "Cid"].map { context.make("Person", ["name": $0]) }
            made[0].setValue(NSSet(array: [made[1], made[2]]), forKey: "friends")
        }
        try store.migrated(way).migrate(way, from: model(friends(nil)), to: model(friends("friends"))) { context in
            let found = try others(context, "friends")
            #expect(found == [["Bob", "Cid"], ["Ann"], ["Ann"]])
        }
    }

    @Test(
        "An ordered one keeps its order, with the objects of the other side at the end",
        arguments: [
            MigratingStore.Way.inPlace, .objectByObject,
        ])
    func ordered(_ way: MigratingStore.Way) throws {
        let (old, new) = (model(friends(nil, isOrdered: true)), model(friends("friends", isOrdered: true)))
        try store.open(old) { context in
            let made = ["Ann", "Bob", "Cid", "Dan"].map { context.make("Person", ["name": $0]) }
            made[0].setValue(NSOrderedSet(array: [made[3]]), forKey: "friends")
            made[1].setValue(NSOrderedSet(array: [made[2], made[0]]), forKey: "friends")
        }
        try store.migrate(way, from: old, to: new) { context in
            let friends = try context.all("Person", by: "name").map { person in
                (person.value(forKey: "friends") as? NSOrderedSet)?.array as? [NSManagedObject] ?? []
            }
            let names = friends.map { $0.compactMap { $0.string("name") } }
            #expect(names == [["Dan", "Bob"], ["Cid", "Ann"], ["Bob"], ["Ann"]])
        }
    }
}
