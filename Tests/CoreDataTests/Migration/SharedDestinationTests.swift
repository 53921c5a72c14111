import CoreData
import Foundation
import Testing

@Suite("A relationship that keeps one object where it had several")
struct SharedDestinationTests {
    private let store: MigratingStore

    init() throws { store = try MigratingStore() }

    private func model(_ owner: NSRelationshipDescription?, _ pet: NSRelationshipDescription? = nil)
        -> NSManagedObjectModel
    {
        let (owners, pets) = (
            makeEntity("Owner", makeAttribute("name", .stringAttributeType)),
            makeEntity("Pet", makeAttribute("name", .stringAttributeType))
        )
        if let owner { owners.properties.append(owner) }
        if let pet { pets.properties.append(pet) }
        return makeModel(owners, pets)
    }

    /// Fills the store with owners of pets by their names.
    private func fill(
        _ model: NSManagedObjectModel, _ pets: [String: [String]], for way: MigratingStore.Way
    ) throws {
        let relationship = model.entity("Owner").relationshipsByName.values.first
        try store.migrated(way).open(model) { context in
            var made: [String: NSManagedObject] = [:]
            for (name, names) in pets {
                let owner = context.make("Owner", ["name": name])
                for pet in names where made[pet] == nil { made[pet] = context.make("Pet", ["name": pet]) }
                let objects = names.compactMap { made[$0] }
                guard let relationship else { continue }
                let value: Any? = relationship.isToMany ? NSSet(array: objects) : objects.first
                owner.setValue(value, forKey: relationship.name)
            }
        }
    }

    /// Expects that the migration stops and leaves the store, and that it names the relationship and the object.
    private func expectStop(
        _ old: NSManagedObjectModel, _ new: NSManagedObjectModel, at place: String, _ way: MigratingStore.Way
    ) throws {
        let store = store.migrated(way)
        let error = #expect(throws: NSError.self) { try store.migrate(way, from: old, to: new) }
        #expect(error?.code == 134110)
        let text = error?.localizedDescription ?? ""
        #expect(text.contains(place) && text.contains("leads to p"), "\(text)")
        #expect(error?.localizedRecoverySuggestion?.contains("to-many") == true)
        #expect(try store.open(old) { try $0.all("Owner").count } == 2)
    }

    private func pet() -> NSRelationshipDescription { makeToOne("pet", "Pet", inverse: nil) }

    @Test(
        "A to-one relationship that becomes to-many without inverse: an object has one owner there",
        arguments: MigratingStore.Way.allCases)
    func withoutInverse(_ way: MigratingStore.Way) throws {
        let new = model(makeToMany("pets", "Pet", inverse: nil).renamed(from: "pet"))
        try fill(model(pet()), ["Ann": ["Rex"], "Bob": ["Rex"]], for: way)
        try expectStop(model(pet()), new, at: "“Owner.pets”", way)
    }

    @Test("A to-one relationship that becomes the inverse of one", arguments: MigratingStore.Way.allCases)
    func inverse(_ way: MigratingStore.Way) throws {
        let new = model(
            makeToMany("pets", "Pet", inverse: "owner").renamed(from: "pet"),
            makeToOne("owner", "Owner", inverse: "pets"))
        try fill(model(pet()), ["Ann": ["Rex"], "Bob": ["Rex"]], for: way)
        try expectStop(model(pet()), new, at: "“Pet.owner”", way)
    }

    @Test("A to-one relationship that becomes one-to-one", arguments: MigratingStore.Way.allCases)
    func oneToOne(_ way: MigratingStore.Way) throws {
        let new = model(makeToOne("pet", "Pet", inverse: "owner"), makeToOne("owner", "Owner", inverse: "pet"))
        try fill(model(pet()), ["Ann": ["Rex"], "Bob": ["Rex"]], for: way)
        try expectStop(model(pet()), new, at: "“Pet.owner”", way)
    }

    @Test(
        "A many-to-many relationship that becomes one-to-many under another name",
        arguments: MigratingStore.Way.allCases)
    func manyToMany(_ way: MigratingStore.Way) throws {
        let old = {
            model(makeToMany("pets", "Pet", inverse: "owners"), makeToMany("owners", "Owner", inverse: "pets"))
        }
        let new = model(makeToMany("pets", "Pet", inverse: "owner"), makeToOne("owner", "Owner", inverse: "pets"))
        try fill(old(), ["Ann": ["Rex"], "Bob": ["Rex", "Tom"]], for: way)
        try expectStop(old(), new, at: "“Pet.owner”", way)
    }

    @Test(
        "Where no two objects lead to one, nothing stops them, and all pairs are kept",
        arguments: MigratingStore.Way.allCases)
    func kept(_ way: MigratingStore.Way) throws {
        try fill(model(pet()), ["Ann": ["Rex"], "Bob": ["Tom"]], for: way)
        let new = model(
            makeToMany("pets", "Pet", inverse: "owner").renamed(from: "pet"),
            makeToOne("owner", "Owner", inverse: "pets"))
        try store.migrated(way).migrate(way, from: model(pet()), to: new) { context in
            let pets = try context.all("Owner", by: "name").map { $0.names("pets") }
            let owners = try context.all("Pet", by: "name").map { $0.names("owner") }
            #expect(pets == [["Rex"], ["Tom"]])
            #expect(owners == [["Ann"], ["Bob"]])
        }
    }

    /// Lets the mapping model take the one pet from the pets.
    private func takePet(_ mapping: NSMappingModel) {
        let owners = mapping.entityMappings.first { $0.sourceEntityName == "Owner" }
        let property = NSPropertyMapping()
        property.name = "pet"
        property.valueExpression = NSExpression(
            format: "FUNCTION($manager, 'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'pets', "
                + "$source.pets)")
        owners?.relationshipMappings = [property]
    }

    @Test(
        "A to-many relationship that a mapping model makes to-one: an object that has several stops it",
        arguments: MigratingStore.Way.allCases.filter { $0 != .inPlace }, [false, true])
    func toOne(_ way: MigratingStore.Way, isEvaluated: Bool) throws {
        let old = { model(makeToMany("pets", "Pet", inverse: nil)) }
        try fill(old(), ["Ann": ["Rex", "Tom"], "Bob": []], for: way)
        let store = store.migrated(way)
        let error = #expect(throws: NSError.self) {
            try store.migrateObjects(from: old(), to: model(pet()), isEvaluated: isEvaluated, changing: takePet)
        }
        #expect(error?.code == 134110)
        #expect(error?.localizedDescription.contains("“Owner.pet”") == true)
        #expect(try store.open(old()) { try $0.all("Pet").count } == 2)
    }

    @Test(
        "A to-many relationship that a mapping model makes to-one keeps the object of those that have one",
        arguments: MigratingStore.Way.allCases.filter { $0 != .inPlace }, [false, true])
    func toOneOfOne(_ way: MigratingStore.Way, isEvaluated: Bool) throws {
        let old = { model(makeToMany("pets", "Pet", inverse: nil)) }
        try fill(old(), ["Ann": ["Rex"], "Bob": []], for: way)
        try store.migrated(way).migrateObjects(
            from: old(), to: model(pet()), isEvaluated: isEvaluated, changing: takePet
        ) { context in
            let pets = try context.all("Owner", by: "name").map { $0.names("pet") }
            #expect(pets == [["Rex"], []])
        }
    }

    @Test("Two independent relationships cannot be inferred to be each other's inverses: 134190 names both")
    func independent() throws {
        let old = model(makeToMany("pets", "Pet", inverse: nil), makeToOne("owner", "Owner", inverse: nil))
        try store.open(old) { context in
            let (rex, ann, bob) = (
                context.make("Pet", ["name": "Rex"]), context.make("Owner", ["name": "Ann"]),
                context.make("Owner", ["name": "Bob"])
            )
            ann.setValue(NSSet(array: [rex]), forKey: "pets")
            rex.setValue(bob, forKey: "owner")
        }
        let new = model(makeToMany("pets", "Pet", inverse: "owner"), makeToOne("owner", "Owner", inverse: "pets"))
        let error = #expect(throws: NSError.self) { try store.open(new) }
        #expect(error?.innermost.code == 134190)
        #expect(error?.innermost.userInfo["property"] as? String == "pets")
        #expect((error?.innermost.userInfo["reason"] as? String)?.contains("“Pet.owner”") == true)
    }
}
