import CoreData
import Foundation
import TestSupport

/// A store that a test fills by one model and opens by the next one, through objects: in files, and in databases.
struct MigratingStore {
    /// How a store is migrated by the inferred mapping.
    enum Way: CaseIterable {
        case inPlace, objectByObject
        /// Object by object, from one XML file to another.
        case document
    }

    let folder: TestFolder
    var configuration: String?
    private var type = NSSQLiteStoreType

    init() throws { folder = try TestFolder() }

    /// The store of the type that a way of migrating is for.
    func migrated(_ way: Way) -> MigratingStore {
        var store = self
        if way == .document { store.type = NSXMLStoreType }
        return store
    }

    /// Migrates the store in one of the ways, and opens it where it is then.
    func migrate(
        _ way: Way, from source: NSManagedObjectModel, to model: NSManagedObjectModel,
        _ body: (NSManagedObjectContext) throws -> Void = { _ in }
    ) throws {
        if way == .inPlace { try open(model, body) } else { try migrateObjects(from: source, to: model, body) }
    }

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
            ofType: type, configurationName: configuration, at: url,
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
    ///
    /// - Parameters:
    ///   - source: the store's model.
    ///   - model: the new model.
    ///   - isEvaluated: whether the expressions of all relationships are evaluated, as by any subclass of the manager.
    ///   - change: changes the inferred mapping.
    ///   - body: works with the objects of the new store.
    /// - Throws: what the migration and the body throw.
    func migrateObjects(
        from source: NSManagedObjectModel, to model: NSManagedObjectModel,
        isEvaluated: Bool = false,
        changing change: (NSMappingModel) -> Void = { _ in },
        _ body: (NSManagedObjectContext) throws -> Void = { _ in }
    ) throws {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: model)
        change(mapping)
        let manager =
            isEvaluated
            ? EvaluatingManager(sourceModel: source, destinationModel: model)
            : NSMigrationManager(sourceModel: source, destinationModel: model)
        manager.usesStoreSpecificMigrationManager = false
        try manager.migrateStore(
            from: folder.store, sourceType: type, options: nil, with: mapping, toDestinationURL: folder.file("new"),
            destinationType: type, destinationOptions: nil)
        try open(model, at: folder.file("new"), body)
    }
}

private final class EvaluatingManager: NSMigrationManager {}

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
