import Foundation

extension NSManagedObjectContext {
    func saveChanges() throws {
        guard hasChanges else { return }
        isSaving = true
        defer { isSaving = false }
        processPendingChanges()
        NotificationCenter.default.post(name: .NSManagedObjectContextWillSave, object: self)
        callWillSave()
        try validate()
        guard let source = persistentStoreCoordinator else {
            throw StoreError.make(CoreDataErrorCode.coreData, "The context has no coordinator, so it cannot be saved.")
        }
        // A merge policy may change objects, and resolving one conflict may uncover another.
        for _ in 0..<100 {
            let plan = try SavePlan(of: changed, in: source, assigned: assignedStores)
            do {
                let results = try source.save(
                    plan.changeSets(contextName: name, author: transactionAuthor), objects: plan.savedObjects)
                plan.commit(results, in: self)
                return finishSave(plan, results)
            } catch let refusal as SaveRefusal {
                plan.revert()
                try resolve(refusal)
                processPendingChanges()
            } catch {
                plan.revert()
                throw error
            }
        }
        throw StoreError.make(
            CoreDataErrorCode.managedObjectMerge,
            "The merge policy did not resolve the conflicts in 100 attempts.")
    }

    /// Lets objects prepare for the save; what they change then is saved too.
    private func callWillSave() {
        defer { for object in changed { object.state.remove(.toldOfSave) } }
        // Bounded, as Core Data's loop is: an object whose willSave always changes something would go on for ever.
        for _ in 0..<1000 {
            var position = 0
            // The list grows while objects change others.
            while position < changed.count {
                let object = changed[position]
                position += 1
                guard object.hasChanges, !object.state.contains(.toldOfSave) else { continue }
                object.state.insert(.toldOfSave)
                object.willSave()
            }
            if event.isEmpty { return }
            for object in event { object.state.remove(.toldOfSave) }
            processPendingChanges()
        }
    }

    private func validate() throws {
        var errors: [NSError] = []
        for object in changed {
            do {
                if object.isDeleted {
                    if !object.state.contains(.inserted) { try object.validateForDelete() }
                } else if object.state.contains(.inserted) {
                    try object.validateForInsert()
                } else if object.state.contains(.updated) {
                    try object.validateForUpdate()
                }
            } catch {
                let error = error as NSError
                errors += error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error]
            }
        }
        if errors.count == 1, let only = errors.first { throw only }
        guard !errors.isEmpty else { return }
        throw NSError(
            domain: NSCocoaErrorDomain, code: CoreDataErrorCode.validationMultipleErrors,
            userInfo: [
                NSLocalizedDescriptionKey: "\(errors.count) values are not valid: "
                    + errors.prefix(5).map(\.localizedDescription).joined(separator: " ")
                    + (errors.count > 5 ? " …" : ""),
                NSDetailedErrorsKey: errors,
            ])
    }

    /// Tells everyone what was saved.
    private func finishSave(_ plan: SavePlan, _ results: [SaveResult]) {
        for object in plan.inserted { object.didSave() }
        for object in plan.updated { object.didSave() }
        for object in plan.deleted { object.didSave() }
        for object in plan.deleted { forget(object) }
        var info: [AnyHashable: Any] = [:]
        var identifiers: [AnyHashable: Any] = [:]
        func add(_ key: String, _ idKey: String, _ objects: [NSManagedObject]) {
            guard !objects.isEmpty else { return }
            info[key] = Set(objects)
            identifiers[idKey] = Set(objects.map(\.identifier))
        }
        add(NSInsertedObjectsKey, NSInsertedObjectIDsKey, plan.inserted)
        add(NSUpdatedObjectsKey, NSUpdatedObjectIDsKey, plan.updated)
        add(NSDeletedObjectsKey, NSDeletedObjectIDsKey, plan.deleted)
        NotificationCenter.default.post(name: .NSManagedObjectContextDidSave, object: self, userInfo: info)
        NotificationCenter.default.post(
            name: .NSManagedObjectContextDidSaveObjectIDs, object: self, userInfo: identifiers)
        persistentStoreCoordinator?.announce(from: self) {
            SavedChanges(
                inserted: plan.inserted.map(\.identifier), updated: plan.updated.map(\.identifier),
                deleted: plan.deleted.map(\.identifier))
        }
        if !event.isEmpty { processPendingChanges() }
    }

    /// Gives new objects their permanent IDs before they are saved.
    ///
    /// - Throws: the errors of the store, which counts its keys in a transaction of its own.
    public func obtainPermanentIDs(for objects: [NSManagedObject]) throws {
        guard let source = persistentStoreCoordinator else {
            throw StoreError.make(
                CoreDataErrorCode.coreData, "The context has no coordinator, so it can give no permanent IDs.")
        }
        let new = objects.filter { $0.identifier.isTemporaryID }
        let identifiers = try source.makePermanentIdentifiers(for: new, assigned: assignedStores)
        for (object, identifier) in zip(new, identifiers) {
            table.remove(object, registeredAs: object.identifier)
            object.identifier = identifier
            table.insert(object)
        }
    }
}

/// The IDs of what a save wrote, for other contexts to merge.
package struct SavedChanges: Sendable {
    package var inserted: [NSManagedObjectID] = []
    package var updated: [NSManagedObjectID] = []
    package var deleted: [NSManagedObjectID] = []

    package init(
        inserted: [NSManagedObjectID] = [], updated: [NSManagedObjectID] = [], deleted: [NSManagedObjectID] = []
    ) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
    }
}
