@testable import CoreData
import Foundation

// What a program does with whole stores.
extension Use {
    /// Migrates, copies and destroys the store, each time a copy of the damaged one.
    func move(_ copy: () throws -> URL) {
        let migrating: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        for options in [
            migrating, migrating.merging(Sample.options) { $1 },
            migrating.merging([NSPersistentStoreDeferredLightweightMigrationOptionKey: true]) { $1 },
        ] {
            attempt {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: after)
                let store = try coordinator.addPersistentStore(
                    ofType: type, configurationName: nil, at: try copy(), options: options)
                attempt(coordinator.finishDeferredLightweightMigration)
                let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
                context.persistentStoreCoordinator = coordinator
                context.performAndWait { attempt { for item in try all(context, "Item") { try touch(item, 0) } } }
                try coordinator.remove(store)
            }
        }
        attempt {
            let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: before, destinationModel: after)
            try StoreMigration(at: copy(), to: after, mapping: mapping).run()
        }
        for newType in [NSXMLStoreType, NSBinaryStoreType, NSSQLiteStoreType] {
            attempt {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: before)
                let source = try copy()
                let store = try coordinator.addPersistentStore(
                    ofType: type, configurationName: nil, at: source, options: nil)
                let target = source.deletingLastPathComponent().appendingPathComponent("moved")
                _ = try coordinator.migratePersistentStore(store, to: target, options: nil, withType: newType)
            }
        }
        attempt {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: before)
            let source = try copy()
            let target = source.deletingLastPathComponent().appendingPathComponent("replaced")
            try coordinator.replacePersistentStore(at: target, withPersistentStoreFrom: source, ofType: type)
            try coordinator.destroyPersistentStore(at: target, ofType: type)
            try coordinator.destroyPersistentStore(at: source, ofType: type)
        }
    }
}
