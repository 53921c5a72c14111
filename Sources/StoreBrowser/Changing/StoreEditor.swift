import CoreData
import Foundation
import HTTPMessages
import StoreReading
import Synchronization

/// Changes the store through a context: values are validated, relationships kept consistent, and changes can be undone.
package final class StoreEditor: Sendable {
    private let store: DirectStore
    private let context: NSManagedObjectContext
    /// The changes made, the latest at the end.
    private let done = Mutex<[DoneChange]>([])
    /// Held while something is changed or undone, which takes several blocks on the context's queue.
    private let turn = NSLock()
    /// The number of changes that can be undone.
    private static let levels = 100
    private let latest = Atomic<Int>(0)

    init(_ store: DirectStore) {
        self.store = store
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = store.coordinator
        context.name = "pippin browse"
        context.transactionAuthor = "pippin browse"
        // Other programs may have saved what was read before.
        context.stalenessInterval = 0
        context.performAndWait {
            let manager = UndoManager()
            manager.levelsOfUndo = Self.levels
            manager.groupsByEvent = true
            context.undoManager = manager
        }
    }

    func close() { store.close() }

    /// The change that can be undone; nil for none.
    var undoable: DoneChange? { done.withLock { $0.last } }

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
        case .value(let value):
            // An element of a composite attribute; no property's name has a dot.
            if object.entity.propertiesByName[change.name] == nil {
                object.setValue(value, forKeyPath: change.name)
            } else {
                object.setValue(value, forKey: change.name)
            }
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
    /// - Parameter number: the number of the change that is to be undone; nil for the latest.
    /// - Throws: a refusal if another change is the latest, or if another program has changed the same values since;
    ///   the errors of saving. Nothing has changed then.
    func undo(_ number: Int? = nil) throws {
        try turn.withLock {
            guard let last = undoable else { return }
            guard number ?? last.number == last.number else {
                throw EditChange.Refusal(
                    message: "Something else was changed last: \(last.text). Nothing was taken back.")
            }
            try context.performAndWait {
                guard let other = last.changedSince(in: context) else { return }
                context.undoManager?.removeAllActions()
                done.withLock { $0 = [] }
                throw EditChange.Refusal(
                    message:
                        "Somebody else has changed \(other) since. It stays as it is, and nothing can be taken back.")
            }
            // Each block on the context's queue is one undoable event.
            context.performAndWait { context.undo() }
            do { try context.performAndWait { try context.save() } } catch {
                // Redone as one event, so that it can be undone later.
                context.performAndWait { context.redo() }
                context.performAndWait {
                    if context.hasChanges { forget() }
                }
                throw error
            }
            _ = done.withLock { $0.popLast() }
        }
    }

    /// Discards unsaved changes, and with them all that could be undone, since the context forgets both.
    private func forget() {
        context.rollback()
        done.withLock { $0 = [] }
    }

    private func object(_ identifier: NSManagedObjectID, _ context: NSManagedObjectContext) throws -> NSManagedObject {
        let object = try context.existingObject(with: store.identifier(entity(identifier), identifier.key))
        // Other programs may have saved it meanwhile.
        context.refresh(object, mergeChanges: true)
        return object
    }

    /// The same entity in the context's coordinator.
    private func entity(_ identifier: NSManagedObjectID) -> EntityLayout {
        store.layout.entityByName[identifier.layout.name] ?? identifier.layout
    }

    private func perform(_ what: String, _ body: (NSManagedObjectContext) throws -> Void) throws {
        try turn.withLock {
            var (refusal, hasChanges): ((any Error)?, Bool) = (nil, false)
            context.performAndWait {
                do {
                    try body(context)
                    context.processPendingChanges()
                    let objects = context.updatedObjects
                    hasChanges = context.hasChanges
                    let keys = objects.map { Array($0.changedValues().keys) }
                    try context.save()
                    guard hasChanges else { return }
                    // The store may have rounded what it was given: digits of a decimal, fractions of a second.
                    for (object, keys) in zip(objects, keys)
                    where keys.contains(where: { object.entity.attributesByName[$0] != nil }) {
                        context.refresh(object, mergeChanges: true)
                    }
                    note(DoneChange(what, zip(objects, keys)))
                } catch {
                    context.processPendingChanges()
                    (refusal, hasChanges) = (error, context.hasChanges)
                }
            }
            guard let refusal else { return }
            // Undone as one event, so that earlier changes can still be undone.
            if hasChanges { context.performAndWait { context.undo() } }
            context.performAndWait {
                if context.hasChanges { forget() }
            }
            throw refusal
        }
    }

    private func note(_ change: DoneChange) {
        done.withLock { done in
            var change = change
            change.number = latest.wrappingAdd(1, ordering: .relaxed).newValue
            done.append(change)
            // The undo manager forgets them, too.
            done.removeFirst(max(0, done.count - Self.levels))
        }
    }
}

/// A property that a form changes: its text for the confirmation, and the change itself.
struct EditChange {
    enum Action {
        case value(Any?)
        /// The object that a relationship leads to; nil for none.
        case destination(NSManagedObjectID?)
        case destinations(added: [NSManagedObjectID], removed: [NSManagedObjectID])
    }

    /// Why a typed text is not a value.
    struct Refusal: Error, Equatable {
        let message: String
    }

    /// The property; an element of a composite attribute is named with its way: `address.street`.
    let name: String
    /// The present and the new value, in words.
    let before: String
    let after: String
    let action: Action
}

/// A change that was saved, with the values that it left.
struct DoneChange: @unchecked Sendable {
    // @unchecked Sendable: the values are immutable ones of attributes, or object IDs.
    /// Counts the changes of a session, from 1.
    var number = 0
    private let what: String
    private let left: [(object: NSManagedObjectID, values: [String: AnyHashable?])]

    /// A description.
    var text: String { "Take back: \(what)" }

    /// - Parameters:
    ///   - what: what was changed, in words.
    ///   - objects: the objects that were updated and saved, and the properties that have changed.
    init(_ what: String, _ objects: some Sequence<(NSManagedObject, [String])>) {
        self.what = what
        left = objects.map { object, names in
            (object.objectID, Dictionary(uniqueKeysWithValues: names.map { ($0, Self.value(of: object, $0)) }))
        }
    }

    /// A value that another program has changed since, in words; nil if there is none.
    func changedSince(in context: NSManagedObjectContext) -> String? {
        for (identifier, values) in left {
            let number = ObjectLabel.number(of: identifier)
            guard let object = try? context.existingObject(with: identifier) else { return number }
            context.refresh(object, mergeChanges: true)
            let changed = values.filter { Self.value(of: object, $0.key) != $0.value }.keys.sorted()
            if !changed.isEmpty { return "\(number), \(changed.joined(separator: ", "))" }
        }
        return nil
    }

    /// A value for comparison. To-many relationships are left out: undoing keeps what other programs have added or
    /// removed.
    private static func value(of object: NSManagedObject, _ name: String) -> AnyHashable? {
        guard object.entity.relationshipsByName[name]?.isToMany != true else { return nil }
        let value = object.value(forKey: name)
        return (value as? NSManagedObject)?.objectID ?? comparable(value)
    }

    /// The value of an attribute; that of a composite one is a dictionary of them.
    private static func comparable(_ value: Any?) -> AnyHashable? {
        if let elements = value as? [String: Any] { return elements.compactMapValues(comparable) }
        return value as? AnyHashable
    }
}

/// Uploaded files that wait for a confirmation. The latest ones are kept, in memory.
package final class PendingUploads: Sendable {
    /// How many bytes a file may have, and all waiting files together.
    package static let largest = 16 << 20
    private static let mostBytes = 64 << 20

    private let waiting = Mutex<[(ticket: String, data: Data)]>([])

    /// Keeps a file.
    ///
    /// - Returns: the ticket for the file.
    func keep(_ data: Data) -> String {
        let ticket = AccessGuard.makeToken()
        waiting.withLock { waiting in
            waiting.append((ticket, data))
            while waiting.count > 1, waiting.reduce(0, { $0 + $1.data.count }) > Self.mostBytes {
                waiting.removeFirst()
            }
        }
        return ticket
    }

    /// The file; nil for one that is no longer kept.
    func file(_ ticket: String) -> Data? { waiting.withLock { $0.first { $0.ticket == ticket }?.data } }

    /// Forgets a file.
    func drop(_ ticket: String) { waiting.withLock { $0.removeAll { $0.ticket == ticket } } }
}
