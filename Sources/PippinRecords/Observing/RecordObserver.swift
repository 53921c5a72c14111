import CoreData
import Pippin

/// Reports changes of one record.
///
/// ```swift
/// let observer = RecordObserver(person) { person, change in show(person, change) }
/// ```
///
/// It observes as long as it exists. Use it on the context's queue. For structs, use
/// ``PersistenceManager/observe(_:id:)``.
public final class RecordObserver<Record: NSManagedObject> {
    /// A change of the record.
    public enum Change: Sendable {
        /// It has new values, saved or not.
        case updated
        /// It took values that another context saved.
        case refreshed
        /// It is deleted, saved or not.
        case deleted
    }

    /// The record.
    public let record: Record
    private var token: ObservationToken?

    /// Begins the observation.
    ///
    /// - Parameters:
    ///   - record: the record, which must be in a context.
    ///   - body: called on the context's queue.
    public init(_ record: Record, _ body: @escaping (Record, Change) -> Void) {
        self.record = record
        token = record.managedObjectContext?.observe(.objectsDidChange) { [weak record] changes in
            guard let record else { return }
            if changes.deleted.contains(record) || changes.invalidatedAll {
                body(record, .deleted)
            } else if changes.refreshed.contains(record) {
                body(record, .refreshed)
            } else if changes.updated.contains(record) {
                body(record, .updated)
            }
        }
    }
}

/// Reports the number of records whenever it changes in a context.
///
/// ```swift
/// let observer = try CountObserver(PersonRecord.self, in: context) { count in label.text = "\(count)" }
/// ```
///
/// It counts as long as it exists. Use it on the context's queue. For structs, use a block: `manager.observe { try
/// $0.count(Book.self) }`.
public final class CountObserver<Record: NSManagedObject> {
    /// The current number of records.
    public private(set) var count: Int
    private let predicate: NSPredicate?
    private let body: (Int) -> Void
    private var tokens: [ObservationToken] = []

    /// Begins the observation.
    ///
    /// - Parameters:
    ///   - type: the records' class.
    ///   - predicate: the condition; nil for all records.
    ///   - context: the context, whose unsaved changes count.
    ///   - body: called on the context's queue with each new count.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    public init(
        _ type: Record.Type, where predicate: NSPredicate? = nil, in context: NSManagedObjectContext,
        _ body: @escaping (Int) -> Void
    ) throws {
        (self.predicate, self.body) = (predicate, body)
        let entity = try Record.entity(in: context)
        count = try Record.count(where: predicate, in: context)
        tokens = [
            context.observe(.objectsDidChange) { [weak self, weak context] changes in
                let touched = [changes.inserted, changes.updated, changes.deleted, changes.refreshed]
                guard changes.invalidatedAll || touched.contains(where: { $0.contains { $0 is Record } }) else {
                    return
                }
                self?.recount(in: context)
            },
            // A merge names the other objects, which the context does not hold, by their IDs alone.
            context.observe(NSManagedObjectContext.didMergeChangesObjectIDsNotification) { [weak self, weak context] in
                let info = $0.userInfo
                func identifiers(_ key: String) -> Set<NSManagedObjectID> {
                    info?[key] as? Set<NSManagedObjectID> ?? []
                }
                let changed = identifiers(NSUpdatedObjectIDsKey).subtracting(identifiers(NSRefreshedObjectIDsKey))
                guard
                    changed.union(identifiers(NSDeletedObjectIDsKey)).contains(where: {
                        $0.entity.isKindOf(entity: entity)
                    })
                else { return }
                self?.recount(in: context)
            },
        ]
    }

    private func recount(in context: NSManagedObjectContext?) {
        // If the count fails now, the next caller that reads gets the error.
        guard let context, let count = try? Record.count(where: predicate, in: context), count != self.count else {
            return
        }
        self.count = count
        body(count)
    }
}
