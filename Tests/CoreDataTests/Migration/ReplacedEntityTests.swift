import CoreData
import Foundation
import MigrationPlans
import TestSupport
import Testing

@testable import CoreData

@Suite("An empty entity whose name another one takes")
struct ReplacedEntityTests {
    private let store: MigratingStore
    private let old = makeModel(
        makeEntity("Author", makeAttribute("name", .stringAttributeType)),
        makeEntity("Writer", makeAttribute("name", .stringAttributeType)))

    init() throws {
        store = try MigratingStore()
        try store.open(old) { $0.make("Author", ["name": "Jane"]) }
    }

    private var new: NSManagedObjectModel {
        let model = makeModel(makeEntity("Writer", makeAttribute("name", .stringAttributeType)))
        model.entity("Writer").renamingIdentifier = "Author"
        return model
    }

    private func reconciliation() throws -> any ReconcilableStore {
        let format = try #require(NSPersistentStoreCoordinator.migratableFormat(ofType: NSSQLiteStoreType))
        return try #require(
            try format.reconciliation(
                at: store.folder.store, program: new, rules: ReconciliationRules(), options: nil))
    }

    @Test("goes, and the other entity keeps its objects")
    func empty() throws {
        let found = try reconciliation()
        #expect(try found.losses().isEmpty)
        try found.migrate(defersCleanup: false)
        let names = try store.open(new) { try $0.all("Writer").compactMap { $0.string("name") } }
        #expect(names == ["Jane"])
    }

    @Test("keeps an object that is saved after it was found to be empty: 134110 names the entity")
    func filledMeanwhile() throws {
        let found = try reconciliation()
        #expect(try found.losses().isEmpty)
        try store.open(old) { $0.make("Writer", ["name": "Mary"]) }
        let error = #expect(throws: NSError.self) { try found.migrate(defersCleanup: false) }
        #expect(error?.code == 134110)
        #expect(error?.localizedDescription.contains("“Writer”") == true)
        let names = try store.open(old) { context in
            try ["Author", "Writer"].map { try context.all($0).compactMap { $0.string("name") } }
        }
        #expect(names == [["Jane"], ["Mary"]])
    }
}
