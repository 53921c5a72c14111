import CoreData
import StoreReading
import Synchronization

/// Changes the store through a context: values are validated, relationships kept consistent, and changes can be undone.
package final class StoreEditor: Sendable {
    private let store: DirectStore
    private let context: NSManagedObjectContext
    /// Descriptions of the changes made, the latest at the end.
    private let done = Mutex<[String]>([])

    init(_ store: DirectStore) {
        self.store = store
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = store.coordinator
        context.name = "pippin browse"
        context.transactionAuthor = "pippin browse"
        context.performAndWait {
            let manager = UndoManager()
            manager.levelsOfUndo = 100
            manager.groupsByEvent = true
            context.undoManager = manager
        }
    }

    func close() { store.close() }

    /// A description of the change that can be undone; nil for none.
    var undoable: String? { done.withLock { $0.last.map { "Take back: \($0)" } } }

    /// Changes properties of an object, and saves.
    ///
    /// - Parameters:
    ///   - identifier: the object.
    ///   - changes: what to change.
    /// - Throws: the errors of validation and of saving; nothing has changed then.
    func change(_ identifier: NSManagedObjectID, _ changes: [EditChange]) throws {
        try perform("\(ObjectLabel.number(of: identifier)), \(changes.map(\.name).joined(separator: ", "))") {
            context in
            let object = try self.object(identifier, context)
            for change in changes { try self.apply(change, to: object, context) }
        }
    }

    private func apply(_ change: EditChange, to object: NSManagedObject, _ context: NSManagedObjectContext) throws {
        switch change.action {
        case .value(let value): object.setValue(value, forKey: change.name)
        case .destination(let identifier):
            object.setValue(try identifier.map { try self.object($0, context) }, forKey: change.name)
        case .destinations(let added, let removed):
            let (new, old) = (
                try added.map { try self.object($0, context) }, try removed.map { try self.object($0, context) }
            )
            if object.entity.relationshipsByName[change.name]?.isOrdered == true {
                let destinations = object.mutableOrderedSetValue(forKey: change.name)
                for other in old { destinations.remove(other) }
                for other in new { destinations.add(other) }
            } else {
                let destinations = object.mutableSetValue(forKey: change.name)
                for other in old { destinations.remove(other) }
                for other in new { destinations.add(other) }
            }
        }
    }

    /// Deletes an object by the delete rules, and saves.
    ///
    /// - Throws: the errors of validation and of saving; nothing has changed then.
    func delete(_ identifier: NSManagedObjectID) throws {
        try perform("\(ObjectLabel.number(of: identifier)) deleted") { context in
            context.delete(try self.object(identifier, context))
        }
    }

    /// Undoes the latest change, and saves.
    ///
    /// - Throws: the errors of saving; nothing has changed then.
    func undo() throws {
        guard done.withLock({ !$0.isEmpty }) else { return }
        // Each block on the context's queue is one undoable event.
        context.performAndWait { context.undo() }
        try context.performAndWait {
            do { try context.save() } catch {
                forget()
                throw error
            }
        }
        _ = done.withLock { $0.popLast() }
    }

    /// Discards unsaved changes, and with them all that could be undone, since the context forgets both.
    private func forget() {
        context.rollback()
        done.withLock { $0 = [] }
    }

    private func object(_ identifier: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let object = try context.existingObject(with: store.identifier(entity(identifier), identifier.key))
        // Others may have saved it meanwhile.
        context.refresh(object, mergeChanges: true)
        return object
    }

    /// The same entity in the context's coordinator.
    private func entity(_ identifier: NSManagedObjectID) -> EntityLayout {
        store.layout.entityByName[identifier.layout.name] ?? identifier.layout
    }

    private func perform(_ what: String, _ body: (NSManagedObjectContext) throws -> Void) throws {
        var (refusal, hasChanges): ((any Error)?, Bool) = (nil, false)
        context.performAndWait {
            do {
                try body(context)
                context.processPendingChanges()
                try context.save()
            } catch {
                context.processPendingChanges()
                (refusal, hasChanges) = (error, context.hasChanges)
            }
        }
        guard let refusal else { return done.withLock { $0.append(what) } }
        // Undone as one event, so that earlier changes can still be undone.
        if hasChanges { context.performAndWait { context.undo() } }
        context.performAndWait {
            if context.hasChanges { forget() }
        }
        throw refusal
    }
}
