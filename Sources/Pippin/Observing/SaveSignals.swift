import CoreData

/// Tells of saves in this process that touch certain entities.
///
/// Several saves that come before anyone asks are one signal, so that a slow reader finds one newest state and no queue.
enum SaveSignals {
    /// - Parameters:
    ///   - container: whose saves matter, whichever of its contexts they come from.
    ///   - entities: the names of the entities that matter.
    static func stream(of container: NSPersistentContainer, entities: Set<String>) -> AsyncStream<Void> {
        let coordinator = Weak(container.persistentStoreCoordinator)
        return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let center = NotificationCenter.default
            let observer = center.addObserver(forName: .NSManagedObjectContextDidSave, object: nil, queue: nil) {
                note in
                guard let context = note.object as? NSManagedObjectContext,
                    context.persistentStoreCoordinator === coordinator.object, touches(entities, note)
                else { return }
                continuation.yield()
            }
            let token = Token(observer)
            continuation.onTermination = { _ in center.removeObserver(token.observer) }
        }
    }

    private static func touches(_ entities: Set<String>, _ note: Notification) -> Bool {
        [NSInsertedObjectsKey, NSUpdatedObjectsKey, NSDeletedObjectsKey].contains { key in
            guard let objects = note.userInfo?[key] as? Set<NSManagedObject> else { return false }
            return objects.contains { $0.entity.name.map(entities.contains) ?? false }
        }
    }

    private struct Weak: @unchecked Sendable {
        // @unchecked Sendable: only compared by identity.
        weak var object: NSPersistentStoreCoordinator?
        init(_ object: NSPersistentStoreCoordinator) { self.object = object }
    }

    private struct Token: @unchecked Sendable {
        // @unchecked Sendable: an observer's token is only ever handed back.
        let observer: any NSObjectProtocol
        init(_ observer: any NSObjectProtocol) { self.observer = observer }
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
