import CoreData

/// A container over one store.
struct Stack {
    let container: NSPersistentContainer

    init(store: URL, model: NSManagedObjectModel = Stack.model, tracksHistory: Bool = false) throws {
        let description = NSPersistentStoreDescription(url: store)
        description.shouldAddStoreAsynchronously = false
        if tracksHistory { description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey) }
        container = NSPersistentContainer(name: "Item", managedObjectModel: model)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { _, error in failure = error }
        if let failure { throw failure }
    }

    func close() throws {
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    // One model for all stacks: a class belongs to one entity.
    static let model = ItemModel.make()
}
