import Foundation
import StoreSession
import Synchronization

// Discarding changes, and forgetting objects.
extension NSManagedObjectContext {
    /// Discards unsaved changes. The context keeps its objects, what it knows of their rows, and the state of the
    /// stores that it reads.
    func rollBackChanges() {
        checkQueue()
        processPendingChanges()
        undoManager?.removeAllActions()
        restartRecords()
        let objects = changed.takeAll()
        deletions.reset()
        // What observers of the changes have changed since.
        let (lost, refreshed) = event.discard()
        var restored: [NSManagedObject] = []
        for object in objects {
            // One that came before may have reset the context when it was restored.
            guard keeps(object) else { continue }
            object.state.remove(.listed)
            if object.state.contains(.inserted) || object.isGone {
                forget(object)
            } else {
                // An observer of a restored object may have changed one that is restored only now.
                event.discardChanges(of: object)
                object.becomeUnchanged()
                awake(object, from: .rollback)
                restored.append(object)
            }
        }
        assignedStores = AssignedStores()
        let removed = objects.filter { $0.managedObjectContext == nil } + lost
        restored = (restored + refreshed).filter(keeps)
        var info: [AnyHashable: Any] = [:]
        if !removed.isEmpty { info[NSDeletedObjectsKey] = Set(removed) }
        if !restored.isEmpty { info[NSRefreshedObjectsKey] = Set(restored) }
        guard !info.isEmpty else { return }
        NotificationCenter.default.post(
            name: SaveNotifications.didChange, object: self, userInfo: info)
    }

    /// Forgets all objects, and all that is known of them. Only what does not depend on them stays: the missing files
    /// that were reported, the permanent IDs of former objects, and the saves of others that wait to be merged.
    func forgetEverything() {
        checkQueue()
        let objects = table.all
        changed = ChangeList()
        event = ContextEvent()
        deletions.reset()
        merging.reset()
        readFailures.reset()
        batches = FetchBatches()
        advancePin()
        undoManager?.removeAllActions()
        restartRecords()
        assignedStores = AssignedStores()
        table.removeAll()
        retained.reset()
        for object in objects {
            object.becomeFaultForGood()
            object.setContext(nil)
        }
        NotificationCenter.default.post(
            name: SaveNotifications.didChange, object: self,
            userInfo: [NSInvalidatedAllObjectsKey: objects.map(\.identifier)])
    }

    /// Clears the lists of changed objects without posting anything; for a private context whose objects are not saved.
    func unlistChanges() {
        changed.unlistAll()
        event.forgetObjects()
        deletions.reset()
    }
}

extension NSManagedObject {
    /// Releases the values of an object that its context no longer knows.
    final func becomeFaultForGood() {
        relations = []
        state = state.intersection(.observed).union(.fault)
        values = []
        snapshot = []
    }
}

/// The state of the stores that a context reads.
enum GenerationPin {
    /// The current state.
    case none
    /// The state at the next read, which is then kept.
    case next
    /// A pinned state.
    case pinned(PinnedSource)
}

extension NSManagedObjectContext {
    /// Guarded by a lock: children ask on their own queues what their parent reads.
    var pin: GenerationPin {
        get { hasPin.load(ordering: .acquiring) ? pinned.withLock { $0 } : .none }
        set {
            // The former pin is released outside the lock, since that may close what it reads.
            let former = pinned.withLock { pin in
                defer { pin = newValue }
                return pin
            }
            if case .none = newValue {
                hasPin.store(false, ordering: .releasing)
            } else {
                hasPin.store(true, ordering: .releasing)
            }
            withExtendedLifetime(former) {}
        }
    }

    /// Pins the context to the current state, if that was left to its next read. What a save reads does not count: the
    /// state before the save would be kept.
    func pinIfNeeded() throws {
        guard case .next = pin, !saving.isActive, let coordinator else { return }
        pin = .pinned(PinnedSource(coordinator, try coordinator.pinCurrentGeneration()))
    }

    /// Lets a pinned context move to the current state at its next read, as saving, merging and resetting do.
    func advancePin() {
        if case .pinned = pin { pin = .next }
    }

    func setPin(_ token: NSQueryGenerationToken?) throws {
        guard let token else { return pin = .none }
        noteUse()
        guard let coordinator else {
            throw StoreError.make(
                parent == nil ? CoreDataErrorCode.coreData : CoreDataErrorCode.persistentStoreUnsupportedRequestType,
                parent == nil
                    ? "The context has no coordinator whose stores it could be pinned to."
                    : "A child context reads its parent; pin the context at the top instead.")
        }
        if token.isCurrent { return pin = .next }
        guard !token.isExpired else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "The query generation cannot be read any more: nobody has kept its token. Use NSQueryGenerationToken.current."
            )
        }
        pin = .pinned(PinnedSource(coordinator, token))
    }

    var pinnedToken: NSQueryGenerationToken? {
        switch pin {
        case .none: return nil
        case .next: return .current
        case .pinned(let source): return source.token
        }
    }
}

// Invalidates the objects of a removed store.
extension NSManagedObjectContext {
    /// Handles, on any queue, the removal of a store. If the caller is on the context's queue, the objects are
    /// invalidated at once; otherwise soon, on that queue.
    func storeWasRemoved(_ store: StoreIdentity) {
        if table.holdsObjects(of: store) {
            if queue.isCurrent {
                invalidateObjects(of: store)
            } else {
                queue.async { [table] in table.context?.invalidateObjects(of: store) }
            }
        }
        for child in children.withLock({ $0.compactMap(\.table.context) }) { child.storeWasRemoved(store) }
    }

    /// Removes the values of a removed store's objects. Changed objects keep them, so that the save reports the error.
    private func invalidateObjects(of store: StoreIdentity) {
        let objects = table.all.filter { $0.storeIdentity === store && !$0.hasChanges }
        guard !objects.isEmpty else { return }
        for object in objects { object.becomeFault() }
        NotificationCenter.default.post(
            name: SaveNotifications.didChange, object: self,
            userInfo: [NSInvalidatedObjectsKey: Set(objects)])
    }
}

extension NSManagedObjectContext {
    func run(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        if let fetch = request as? any ImmediateFetch { return try fetch.result(in: self) }
        guard let source = persistentStoreCoordinator else {
            throw StoreError.make(
                CoreDataErrorCode.coreData, "The context has no coordinator, so there is nothing to run a request on.")
        }
        let result = try source.session.working(in: transaction) { try source.execute(request, with: self) }
        if let result = result as? NSPersistentStoreResult { return result }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreUnsupportedRequestType,
            "A request of type \(type(of: request)) has no result that execute(_:) could return; save with save().")
    }

    /// The author of a request's changes for the history: the context that has the coordinator, to which a child passes
    /// its requests.
    ///
    /// - Throws: nothing of its own; a parent is asked on its queue.
    func changeOrigin() throws -> ChangeOrigin {
        if let parent { return try parent.onQueue { try $0.changeOrigin() } }
        return ChangeOrigin(contextName: name, author: transactionAuthor)
    }

    /// The entity with a name in the context's model.
    ///
    /// - Parameters:
    ///   - name: the entity's name.
    ///   - what: what needs the entity, for the error.
    /// - Returns: the entity.
    /// - Throws: an error if the model has no such entity.
    func entity(named name: String, for what: String) throws -> EntityLayout {
        if let layout = entityLayout(named: name) { return layout }
        let known = modelLayout?.entityByName.keys.sorted().joined(separator: ", ") ?? "no entities"
        throw StoreError.make(
            CoreDataErrorCode.coreData, "\(what) names the entity “\(name)”; the context's model has \(known).")
    }
}
