import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("An entity mapping that takes objects of subentities, too")
struct SubentityMappingTests {
    private func model(_ further: NSAttributeDescription...) -> NSManagedObjectModel {
        let dog = makeEntity("Dog")
        let owner = makeEntity(
            "Owner", makeAttribute("name", .stringAttributeType), makeToMany("pets", "Animal", inverse: "owner"),
            makeToMany("loved", "Animal", inverse: "lovers"))
        owner.properties += further
        return makeModel(
            makeEntity(
                "Animal", makeAttribute("name", .stringAttributeType), makeToOne("owner", "Owner", inverse: "pets"),
                makeToMany("lovers", "Owner", inverse: "loved")
            ).with(sub: dog), dog, owner)
    }

    /// Lets the mapping of animals take the dogs.
    private func takeDogs(_ mapping: NSMappingModel, last: Bool) {
        let animals = mapping.entityMappings.first { $0.sourceEntityName == "Animal" }
        animals?.sourceExpression = NSExpression(
            format: """
                FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:includesSubentities:", "Animal", \
                "TRUEPREDICATE", YES), $manager.sourceContext, NO)
                """)
        let others = mapping.entityMappings.filter { !["Animal", "Dog"].contains($0.sourceEntityName) }
        mapping.entityMappings = last ? others + [animals].compactMap { $0 } : [animals].compactMap { $0 } + others
    }

    @Test(
        "connects them with what other mappings made, from both sides",
        arguments: MigratingStore.Way.allCases.filter { $0 != .inPlace }, [false, true])
    func connected(_ way: MigratingStore.Way, last: Bool) throws {
        for isEvaluated in [false, true] {
            let store = try MigratingStore().migrated(way)
            let old = model()
            try store.open(old) { context in
                let pets = [context.make("Dog", ["name": "Rex"]), context.make("Animal", ["name": "Tom"])]
                context.make("Owner", ["name": "Ann", "pets": NSSet(array: pets), "loved": NSSet(array: pets)])
                context.make("Owner", ["name": "Bob", "loved": NSSet(array: [pets[0]])])
            }
            try store.migrateObjects(
                from: old, to: model(makeAttribute("note", .stringAttributeType)),
                isEvaluated: isEvaluated,
                changing: { takeDogs($0, last: last) }
            ) { context in
                let animals = try context.all("Animal", by: "name")
                let owners = try context.all("Owner", by: "name")
                #expect(animals.map { $0.entity.name } == ["Animal", "Animal"])
                #expect(animals.map { $0.names("owner") } == [["Ann"], ["Ann"]])
                #expect(owners.map { $0.names("pets") } == [["Rex", "Tom"], []])
                #expect(owners.map { $0.names("loved") } == [["Rex", "Tom"], ["Rex"]])
            }
        }
    }

    @Test("keeps the deletions of those of which none is left, as changes of what they would have become")
    func deletions() throws {
        let folder = try TestFolder()
        func open(
            _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Void
        ) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let store = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
                options: [NSPersistentHistoryTrackingKey: true])
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait { try body(context) }
            try coordinator.remove(store)
        }
        let (old, new) = (model(), model(makeAttribute("note", .stringAttributeType)))
        try open(old) { context in
            let dog = context.make("Dog", ["name": "Rex"])
            try context.save()
            context.delete(dog)
            try context.save()
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        takeDogs(mapping, last: false)
        try StoreMigration(at: folder.store, to: new, mapping: mapping).run()
        try open(new) { context in
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction] ?? []
            let deleted = transactions.flatMap { $0.changes ?? [] }.filter { $0.changeType == .delete }
            #expect(deleted.map { $0.changedObjectID.entity.name } == ["Animal"])
        }
    }
}
