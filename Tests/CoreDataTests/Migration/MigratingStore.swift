import CoreData
import Foundation
import TestSupport

/// A store that a test fills by one model and opens by the next one, through objects: in files, and in databases.
struct MigratingStore {
    let folder: TestFolder
    var configuration: String?

    init() throws { folder = try TestFolder() }

    /// Opens the store, migrated if it has another model, and closes it again.
    func open(_ model: NSManagedObjectModel) throws { try open(model) { _ in } }

    /// Opens the store, migrated if it has another model, saves what was changed, and closes it again.
    @discardableResult
    func open<Value>(
        _ model: NSManagedObjectModel, _ body: (NSManagedObjectContext) throws -> Value
    ) throws -> Value {
        try open(model, at: folder.store, body)
    }

    private func open<Value>(
        _ model: NSManagedObjectModel, at url: URL, _ body: (NSManagedObjectContext) throws -> Value
    ) throws -> Value {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: configuration, at: url,
            options: [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        let value = try context.performAndWait {
            let value = try body(context)
            if context.hasChanges { try context.save() }
            return value
        }
        try coordinator.remove(store)
        return value
    }

    /// Migrates the store to another place by the inferred mapping, but object by object, and opens it there.
    func migrateObjects(
        from source: NSManagedObjectModel, to model: NSManagedObjectModel,
        _ body: (NSManagedObjectContext) throws -> Void = { _ in }
    ) throws {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: model)
        let manager = NSMigrationManager(sourceModel: source, destinationModel: model)
        manager.usesStoreSpecificMigrationManager = false
        try manager.migrateStore(
            from: folder.store, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
            toDestinationURL: folder.file("new"), destinationType: NSSQLiteStoreType, destinationOptions: nil)
        try open(model, at: folder.file("new"), body)
    }
}

extension NSError {
    /// The error under all others.
    var innermost: NSError { (userInfo[NSUnderlyingErrorKey] as? NSError)?.innermost ?? self }
}

extension NSPropertyDescription {
    /// The property under a new name, with the former one as its identifier.
    func renamed(from identifier: String) -> Self {
        renamingIdentifier = identifier
        return self
    }
}

extension NSManagedObject {
    /// The names of the objects at the other end of a relationship, sorted.
    func names(_ relationship: String, _ key: String = "name") -> [String] {
        let objects = (value(forKey: relationship) as? NSOrderedSet)?.array as? [NSManagedObject]
        let one = (value(forKey: relationship) as? NSManagedObject).map { [$0] }
        return (objects ?? one ?? Array(self.objects(relationship))).compactMap { $0.string(key) }.sorted()
    }
}
