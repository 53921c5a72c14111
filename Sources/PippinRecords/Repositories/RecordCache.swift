import CoreData
import Pippin

/// The records of a context by their identifiers. Each one is looked up once.
///
/// For work that needs the same records repeatedly, such as connecting imported ones. For use on the context's queue.
/// Records are kept as long as the cache.
public final class RecordCache<Record: DataRecord> {
    private let context: NSManagedObjectContext
    private var known: [RecordKey: Record] = [:]

    /// An empty cache.
    ///
    /// - Parameter context: the context of the records.
    public init(context: NSManagedObjectContext) { self.context = context }

    /// Looks up many records at once.
    ///
    /// - Parameter uids: their identifiers.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`
    public func load(_ uids: some Sequence<Record.UidType>) throws {
        let missing = uids.filter { living($0) == nil }
        guard !missing.isEmpty else { return }
        known.merge(Record.byIdentifier(try Record.records(uids: missing, in: context))) { $1 }
    }

    /// A record that is known, unless it was deleted. Once that is saved, what is set on it would be lost.
    private func living(_ uid: Record.UidType) -> Record? {
        known[uid.recordKey].flatMap { $0.isDeleted || $0.managedObjectContext == nil ? nil : $0 }
    }

    /// The record with that identifier, if there is one.
    ///
    /// - Parameter uid: the identifier.
    /// - Returns: the record; nil if there is none.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?)`, for one that is not known yet
    public func record(with uid: Record.UidType) throws -> Record? {
        try load([uid])
        let record = living(uid)
        if let record { RecordConversion.note(record) }
        return record
    }

    /// The record with that identifier, or a new one with it.
    ///
    /// - Parameter uid: the identifier.
    /// - Returns: the record.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?)`, for one that is not known yet
    public func findOrInsert(_ uid: Record.UidType) throws -> Record {
        if let record = try record(with: uid) { return record }
        let record = try Record.insert(uid: uid, in: context)
        known[uid.recordKey] = record
        RecordConversion.note(record)
        return record
    }

    /// Forgets all records.
    public func removeAll() { known = [:] }
}
