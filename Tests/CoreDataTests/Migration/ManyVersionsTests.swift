import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import MigrationPlans

@Suite("Migration over a hundred versions and more")
struct ManyVersionsTests {
    private static let count = 120
    private static let entityCount = 6
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A version of a model that has grown since the first one: an attribute for every version before it.
    private static func model(_ number: Int) -> NSManagedObjectModel {
        let entities = (0..<entityCount).map { index -> NSEntityDescription in
            let names =
                ["name"] + (1...max(number, 1)).filter { $0 <= number && $0 % entityCount == index }.map { "a\($0)" }
            return Library.entity("Entity\(index)", names.map { makeAttribute($0, .stringAttributeType) })
        }
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    private func makeStore(_ number: Int) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(number))
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: nil)
        try coordinator.remove(store)
    }

    @Test("Each entity of each version is hashed once at most, and one step is inferred")
    func hashes() throws {
        try makeStore(3)
        let versions = (0..<Self.count).map { KnownVersion(name: "\($0)", model: Self.model($0)) }
        let known = KnownVersions(versions)
        let destination = versions[Self.count - 1].model
        for _ in 0..<3 {
            let migration = try ProgressiveMigration(at: folder.store, to: destination, over: known)
            #expect(migration.steps.map(\.description) == ["“3” to “119”, inferred"])
        }
        let counts = versions.map(\.model.derived.hashCount)
        #expect(counts.allSatisfy { $0 <= Self.entityCount })
        // Between the store's version and the last one there is nothing to look at.
        #expect(counts[4..<(Self.count - 1)].allSatisfy { $0 == 0 })
        try ProgressiveMigration(at: folder.store, to: destination, over: known).run()
        #expect(try SQLiteFormat.version(of: folder.store, options: nil).fits(destination, configuration: nil))
    }

    @Test("A version that is compared with all others is hashed once")
    func comparisons() {
        let models = (0..<Self.count).map(Self.model)
        var equal = 0
        for first in models { for second in models where first == second { equal += 1 } }
        #expect(equal == Self.count)
        #expect(models.allSatisfy { $0.derived.hashCount == Self.entityCount })
    }
}
