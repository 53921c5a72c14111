import CoreData

/// Signals changes of the stores that may touch certain entities: saves in this process, and everything else that changes
/// a store, such as batch requests and other processes.
///
/// Several changes that come before anyone asks are one signal, so that a slow reader finds one newest state and no queue.
enum SaveSignals {
    /// Posted, with the coordinator, when a manager has loaded its stores.
    static let managerDidLoad = Notification.Name("Pippin.managerDidLoad")

    /// Posted, with the coordinator, when a manager has taken its stores away.
    static let managerDidDestroy = Notification.Name("Pippin.managerDidDestroy")

    /// - Parameters:
    ///   - container: whose stores matter; all its contexts count.
    ///   - entities: the names of the entities that matter.
    /// - Returns: an element for each save that matters; several in a row may come as one.
    static func stream(
        of container: NSPersistentContainer, entities: @escaping @Sendable () -> Set<String>?
    ) -> AsyncStream<Void> {
        let coordinator = container.persistentStoreCoordinator
        let identity = ObjectIdentifier(coordinator)
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let center = NotificationCenter.default
            let saves = center.addObserver(forName: didSave, object: nil, queue: nil) { note in
                // A child's save is in no store yet.
                guard let context = note.object as? NSManagedObjectContext, context.parent == nil,
                    context.persistentStoreCoordinator.map(ObjectIdentifier.init) == identity,
                    touches(entities(), note)
                else { return }
                continuation.yield()
            }
            // Which entities others have changed is not said.
            let others = center.addObserver(forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil) {
                if !followsSave($0) { continuation.yield() }
            }
            let stores = [managerDidLoad, managerDidDestroy].map { name in
                center.addObserver(forName: name, object: coordinator, queue: nil) { _ in continuation.yield() }
            }
            let tokens = Tokens(observers: [saves, others] + stores)
            continuation.onTermination = { _ in tokens.observers.forEach(center.removeObserver) }
        }
    }

    #if canImport(ObjectiveC)
        private static let didSave = Notification.Name.NSManagedObjectContextDidSave
    #else
        // The names of the entities are enough.
        private static let didSave = SaveNews.didSave
    #endif

    private static func touches(_ entities: Set<String>?, _ note: Notification) -> Bool {
        guard let entities else { return true }
        #if !canImport(ObjectiveC)
            if let saved = note.userInfo?[NSManagedObjectContext.savedEntitiesKey] as? Set<String> {
                return !saved.isDisjoint(with: entities)
            }
        #endif
        return [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey].contains { key in
            guard let objects = note.userInfo?[key] as? Set<NSManagedObject> else { return false }
            return objects.contains { $0.entity.name.map(entities.contains) ?? false }
        }
    }

    /// Whether a context's save has told of the change already; Apple's Core Data does not say.
    private static func followsSave(_ note: Notification) -> Bool {
        #if canImport(ObjectiveC)
            false
        #else
            note.userInfo?[NSPersistentStoreCoordinator.followsSaveKey] != nil
        #endif
    }

    private struct Tokens: @unchecked Sendable {
        // @unchecked Sendable: an observer's token is only ever handed back.
        let observers: [any NSObjectProtocol]
    }
}

extension ModelRegistry {
    /// The entities whose changes show in a model: its own, and those of the models in it.
    func entities(within plan: EntityPlan) throws -> Set<String> {
        var names: Set<String> = []
        var queue = [plan]
        while let next = queue.popLast() {
            guard names.insert(next.name).inserted else { continue }
            queue += try next.fields.compactMap(\.related).map { try self.plan($0) }
        }
        return names
    }
}
