import CoreData
import Foundation
import Testing

@Suite("An entity that becomes abstract")
struct AbstractMigrationTests {
    private let store: MigratingStore

    init() throws { store = try MigratingStore() }

    private func model(abstract: Bool) -> NSManagedObjectModel {
        let animal = makeEntity("Animal", makeAttribute("name", .stringAttributeType), abstract: abstract)
        let dog = makeEntity("Dog")
        animal.subentities = [dog]
        return makeModel(animal, dog)
    }

    @Test("Objects of the entity itself stop the migration: no fetch would find them. The error names the entity")
    func objects() throws {
        try store.open(model(abstract: false)) { context in
            context.make("Animal", ["name": "Any"])
            context.make("Dog", ["name": "Rex"])
        }
        let error = #expect(throws: NSError.self) { try store.open(model(abstract: true)) }
        #expect(error?.code == 134110)
        #expect(error?.localizedDescription.contains("“Animal”") == true)
        #expect(error?.localizedRecoverySuggestion?.contains("subentity") == true)
        #expect(try store.open(model(abstract: false)) { try $0.all("Animal").count } == 2)
    }

    @Test("Objects of its subentities are what they were")
    func subentities() throws {
        try store.open(model(abstract: false)) { $0.make("Dog", ["name": "Rex"]) }
        let names = try store.open(model(abstract: true)) { try $0.all("Animal").map { $0.string("name") } }
        #expect(names == ["Rex"])
    }
}
