import CoreDataPostgres
import PippinPostgres

/// A manager of items in a schema.
func manager(_ uri: String, _ schema: String) -> PersistenceManager {
    PersistenceManager(models: Item.self, store: .postgres(uri, schema: schema))
}

/// A context of items in a schema.
func context(_ uri: String, _ schema: String, _ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    let description = NSPersistentStoreDescription(postgreSQLConnection: uri, schema: schema)
    try coordinator.addPersistentStore(
        ofType: description.type, configurationName: nil, at: description.url, options: description.options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
}
