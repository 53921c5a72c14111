import CoreData

/// A context that changes objects which others change, too, and its merge policy.
struct Rival {
    enum Policy: CaseIterable {
        case error, objectTrump, storeTrump, overwrite, rollback

        var mergePolicy: NSMergePolicy {
            switch self {
            case .error: .error
            case .objectTrump: .mergeByPropertyObjectTrump
            case .storeTrump: .mergeByPropertyStoreTrump
            case .overwrite: .overwrite
            case .rollback: .rollback
            }
        }

        /// What a save leaves in the store.
        ///
        /// - Parameters:
        ///   - snapshot: the value that the context knows from the store.
        ///   - current: the value that it has now.
        ///   - stored: the value in the store.
        ///   - conflicts: whether any value of the object was changed in the store.
        /// - Returns: the value as a text; nil if it may be either, since an object's version may have changed without
        ///   its values.
        func merged(snapshot: String?, current: String?, stored: String?, conflicts: Bool) -> String? {
            switch self {
            case .error, .overwrite: current
            case .objectTrump: current == snapshot ? stored : current
            case .storeTrump: stored == snapshot ? current : stored
            case .rollback: conflicts ? stored : nil
            }
        }
    }

    let policy: Policy
    let context: NSManagedObjectContext

    init(_ policy: Policy, _ coordinator: NSPersistentStoreCoordinator, mergesByItself: Bool) {
        self.policy = policy
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = policy.mergePolicy
        context.automaticallyMergesChangesFromParent = mergesByItself
    }

    /// What a save of the context's changes must come to.
    struct Forecast {
        /// Whether the store has changed what the context changes.
        var conflicts = false
        /// The attributes of changed objects, by number.
        var attributes: [Int: [String: String]] = [:]
        /// The numbers of objects that are saved.
        var saved: Set<Int> = []
    }

    /// To be called on the context's queue.
    func forecast(of stored: RivalPicture) -> Forecast {
        context.processPendingChanges()
        var forecast = Forecast()
        for object in context.updatedObjects where !object.isDeleted {
            // Read first: a relationship that was set unread may turn out to be as it was.
            let snapshot = object.committedValues(forKeys: nil)
            guard !object.changedValues().isEmpty else { continue }
            let number = RivalModel.number(of: object)
            let keys = RivalModel.compared(object.entity.name ?? "")
            if keys.contains(where: { object.changedValues()[$0] != nil }) { forecast.saved.insert(number) }
            // What others deleted is a conflict, and not in the forecast.
            guard let row = stored[number] else {
                forecast.conflicts = true
                continue
            }
            let conflicts = keys.contains { RivalModel.text(snapshot[$0]) != row[$0] }
            if conflicts { forecast.conflicts = true }
            for key in RivalModel.attributes[object.entity.name ?? ""] ?? [] {
                forecast.attributes[number, default: [:]][key] = policy.merged(
                    snapshot: RivalModel.text(snapshot[key]), current: RivalModel.text(object.value(forKey: key)),
                    stored: row[key],
                    conflicts: conflicts)
            }
        }
        forecast.saved.formUnion(context.insertedObjects.map(RivalModel.number))
        return forecast
    }

    /// That the store has what was forecast, and the context shows what is stored. To be called on the context's queue.
    func check(_ forecast: Forecast, in stored: RivalPicture) throws {
        if policy == .error, forecast.conflicts { throw RivalFailure("was saved over a conflict") }
        for (number, values) in forecast.attributes {
            // Unless the object is deleted along with its changes.
            guard let row = stored[number] else { throw RivalFailure("\(number) is gone") }
            for (key, value) in values where row[key] != value {
                throw RivalFailure("\(key) of \(number) should be \(value), and is \(row[key] ?? "missing")")
            }
        }
        for object in context.registeredObjects where !object.isFault && !object.isDeleted {
            let number = RivalModel.number(of: object)
            guard forecast.saved.contains(number) else { continue }
            guard let row = stored[number] else {
                // Two policies leave deleted what others deleted.
                if policy == .rollback || policy == .storeTrump { continue }
                throw RivalFailure("\(number) is shown, and not stored")
            }
            for key in RivalModel.compared(object.entity.name ?? "") {
                let shown = RivalModel.text(object.value(forKey: key))
                if shown != row[key] {
                    throw RivalFailure(
                        "\(key) of \(number) is shown as \(shown), and stored as \(row[key] ?? "missing")")
                }
            }
        }
        if context.hasChanges { throw RivalFailure("the context has changes after its save") }
    }
}
