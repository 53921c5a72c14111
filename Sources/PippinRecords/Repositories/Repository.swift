import CoreData
import Pippin

/// Creates, finds and deletes the records of one entity in one context.
///
/// ```swift
/// final class BookRepository: Repository<BookRecord, String> {
///     func create(isbn: String, title: String) throws -> BookRecord {
///         let book = try create()
///         book.isbn = isbn
///         book.title = title
///         return book
///     }
/// }
///
/// let books = BookRepository(context: context, key: "isbn")
/// let emma = try books.record(with: "9780141439587")
/// ```
///
/// The key is any ``UniqueIdentifier``; an entity without one has a `Repository<Record, NoKey>`. Queries of your own
/// are methods of a subclass or an extension. For use on the context's queue; nothing is saved.
open class Repository<Record: NSManagedObject, Key> {
    /// The context of the records.
    public let context: NSManagedObjectContext
    /// The attribute that holds the key; nil for an entity without one.
    public let keyName: String?

    /// A repository for records with a key.
    ///
    /// - Parameters:
    ///   - context: the context of the records.
    ///   - key: the attribute that holds the key.
    public init(context: NSManagedObjectContext, key: String) where Key: UniqueIdentifier {
        self.context = context
        keyName = key
    }

    /// A repository for records whose type declares what identifies them.
    ///
    /// - Parameter context: the context of the records.
    public init(context: NSManagedObjectContext) where Record: DataRecord, Key == Record.UidType {
        self.context = context
        keyName = Record.uidKey
    }

    /// A repository for records without a key.
    ///
    /// - Parameter context: the context of the records.
    public init(context: NSManagedObjectContext) where Key == NoKey {
        self.context = context
        keyName = nil
    }

    /// Inserts a new record.
    ///
    /// - Throws: ``PersistenceError`` if the model has no entity for the class.
    open func create() throws -> Record { try Record.insert(in: context) }

    /// All records, or those that a predicate selects.
    ///
    /// - Parameters:
    ///   - predicate: the condition; nil for all records.
    ///   - sortDescriptors: the order.
    ///   - limit: the largest number of records.
    /// - Returns: the records, in order.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <predicate> ORDER BY <sortDescriptors> LIMIT <limit>`
    open func all(
        where predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor]? = nil, limit: Int? = nil
    ) throws -> [Record] {
        try Record.all(where: predicate, sortDescriptors: sortDescriptors, limit: limit, in: context)
    }

    /// The first record that a predicate selects.
    ///
    /// - Parameters:
    ///   - predicate: the condition; nil for any record.
    ///   - sortDescriptors: the order.
    /// - Returns: the record; nil if there is none.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <predicate> ORDER BY <sortDescriptors> LIMIT 1`
    open func first(where predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor]? = nil) throws -> Record? {
        try all(where: predicate, sortDescriptors: sortDescriptors, limit: 1).first
    }

    /// How many records a predicate selects.
    ///
    /// - Parameter predicate: the condition; nil for all records.
    /// - Returns: the number of records.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT count(*) … WHERE <predicate>`
    open func count(where predicate: NSPredicate? = nil) throws -> Int {
        try Record.count(where: predicate, in: context)
    }

    /// Deletes a record.
    ///
    /// - Parameter record: the record.
    open func delete(_ record: Record) { context.delete(record) }

    /// Deletes all records, or those that a predicate selects.
    ///
    /// - Parameter predicate: the condition; nil for all records.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <predicate>`; the context's next save runs `DELETE … WHERE Z_PK = ?` each
    @discardableResult
    open func deleteAll(where predicate: NSPredicate? = nil) throws -> Int {
        try Record.deleteAll(where: predicate, in: context)
    }
}

/// The key type of records without a key. It has no values.
public enum NoKey {}

extension Repository where Key: UniqueIdentifier {
    /// The record with that key, if there is one.
    ///
    /// - Parameter key: the key.
    /// - Returns: the record; nil if there is none.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <key> = ? LIMIT 1`
    public func record(with key: Key) throws -> Record? {
        guard let keyName else { return nil }
        return try first(where: RecordSelection.uid(key, key: keyName).predicate)
    }

    /// The record with that key, or a new one with it.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - change: gives the record its values.
    /// - Returns: the record.
    /// - Throws: ``PersistenceError``, Core Data's errors, and what `change` throws.
    /// - SQL: `SELECT … WHERE <key> = ? LIMIT 1`
    @discardableResult
    public func insertOrUpdate(_ key: Key, _ change: (Record) throws -> Void) throws -> Record {
        let known = try record(with: key)
        let record = try known ?? create()
        if known == nil, let keyName { record.setValue(key.attributeValue, forKey: keyName) }
        try change(record)
        return record
    }
}
