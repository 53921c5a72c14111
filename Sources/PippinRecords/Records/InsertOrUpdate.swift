import CoreData
import Pippin

// On the context's queue. Nothing is saved.
extension DataRecord {
    /// The record with that identifier, inserted if there is none, and changed.
    ///
    /// - Parameters:
    ///   - uid: the identifier.
    ///   - context: the context to search and to insert into.
    ///   - change: gives the record its values.
    /// - Returns: the record; the context's next save writes it.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `change` throws.
    /// - SQL: `SELECT … WHERE <uidKey> = ? LIMIT 1`
    @discardableResult
    public static func insertOrUpdate(
        uid: UidType, in context: NSManagedObjectContext, _ change: (Self) throws -> Void
    ) throws -> Self {
        try insertOrUpdate([uid], by: { $0 }, in: context) { record, _ in try change(record) }[0]
    }

    /// Finds the records of intermediate values, such as data from a server, in one query, inserts the missing ones,
    /// and changes all of them.
    ///
    /// ```swift
    /// try PersonRecord.insertOrUpdate(rows, by: { $0[0] }, in: context) { person, row in person.name = row[1] }
    /// ```
    ///
    /// - Parameters:
    ///   - values: the values.
    ///   - uid: returns a value's identifier.
    ///   - context: the context to search and to insert into.
    ///   - change: sets a record's values. If two values have one identifier, it is called for the later one last.
    /// - Returns: the records, in the values' order.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `change` throws.
    /// - SQL: `SELECT … WHERE <uidKey> IN (?, …)`
    @discardableResult
    public static func insertOrUpdate<Value>(
        _ values: [Value], by uid: (Value) -> UidType, in context: NSManagedObjectContext,
        _ change: (Self, Value) throws -> Void
    ) throws -> [Self] {
        let uids = values.map(uid)
        var byUid = byIdentifier(try records(uids: uids, in: context))
        return try zip(uids, values).map { uid, value in
            let record = try byUid[uid] ?? insert(uid: uid, in: context)
            byUid[uid] = record
            RecordConversion.note(record)
            try change(record, value)
            return record
        }
    }
}
