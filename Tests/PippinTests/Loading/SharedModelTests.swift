import CoreData
import Synchronization
import Testing

@testable import Pippin

private struct Tenant: CoreModel {
    let id: Int
    var name: String
    var town: Town?

    static let isNameUnique = Mutex(false)
    static var schema: Schema<Tenant> { isNameUnique.withLock(\.self) ? Schema(.unique(\.name)) : Schema() }
}

private struct Town: CoreModel { let id: Int }

@Suite("A program that makes one manager after the other")
struct SharedModelTests {
    @Test("has one model for managers of the same structs, and another where a schema says something else")
    func models() {
        func model(_ types: any CoreModel.Type...) -> NSManagedObjectModel {
            PersistenceManager(models: types, store: .memory).container.managedObjectModel
        }
        let first = model(Tenant.self)
        #expect(model(Tenant.self) === first)
        #expect(model(Town.self) !== first)
        Tenant.isNameUnique.withLock { $0 = true }
        let other = model(Tenant.self)
        #expect(other !== first)
        #expect(other.entitiesByName["Tenant"]?.uniquenessConstraints.count == 2)
        #expect(model(Tenant.self) === other)
    }
}
