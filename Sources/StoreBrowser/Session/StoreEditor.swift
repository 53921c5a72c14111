import CoreData
import StoreReading
import Synchronization

/// Changes the store through a context: values are validated, relationships kept in order, and what was done can be taken back.
package final class StoreEditor: Sendable {
    private let store: DirectStore
    private let context: NSManagedObjectContext
    /// What was done, in words, the latest at the end.
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

    /// What would be taken back, in words; nil for nothing.
    var undoable: String? { done.withLock { $0.last.map { "Take back: \($0)" } } }

    /// Sets values of an object, and saves.
    ///
    /// - Parameters:
    ///   - changes: values by the names of attributes.
    ///   - identifier: the object.
    /// - Throws: the errors of validation and of saving; then nothing has changed.
    func set(_ changes: [(name: String, value: Any?)], of identifier: NSManagedObjectID) throws {
        try perform("\(ObjectLabel.number(of: identifier)), \(changes.map(\.name).joined(separator: ", "))") {
            context in
            let object = try self.object(identifier, context)
            for change in changes { object.setValue(change.value, forKey: change.name) }
        }
    }

    /// Deletes an object, as the delete rules say, and saves.
    ///
    /// - Throws: the errors of validation and of saving; then nothing has changed.
    func delete(_ identifier: NSManagedObjectID) throws {
        try perform("\(ObjectLabel.number(of: identifier)) deleted") { context in
            context.delete(try self.object(identifier, context))
        }
    }

    /// Takes back what was done last, and saves.
    ///
    /// - Throws: the errors of saving; then nothing has changed.
    func undo() throws {
        guard done.withLock({ !$0.isEmpty }) else { return }
        // The events of a context's queue are its blocks.
        context.performAndWait { context.undo() }
        try context.performAndWait {
            do { try context.save() } catch {
                context.rollback()
                throw error
            }
        }
        _ = done.withLock { $0.popLast() }
    }

    private func object(_ identifier: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let object = try context.existingObject(with: store.identifier(entity(identifier), identifier.key))
        // As others have saved it meanwhile.
        context.refresh(object, mergeChanges: true)
        return object
    }

    /// The same entity, as the context's coordinator knows it.
    private func entity(_ identifier: NSManagedObjectID) -> EntityLayout {
        store.layout.entityByName[identifier.layout.name] ?? identifier.layout
    }

    private func perform(_ what: String, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let refused = context.performAndWait { () -> (any Error)? in
            do {
                try body(context)
                context.processPendingChanges()
                try context.save()
                return nil
            } catch {
                return error
            }
        }
        if let refused {
            context.performAndWait { context.rollback() }
            throw refused
        }
        done.withLock { $0.append(what) }
    }
}
