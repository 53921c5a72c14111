import CoreData
import Pippin

/// Any managed object class, with static functions that return its own type, such as `insert(in:)` and `all(in:)`.
public protocol ManagedRecord: NSManagedObject {}

extension NSManagedObject: ManagedRecord {}

// On the context's queue. Nothing is saved.
extension ManagedRecord {
    /// Inserts a new record.
    ///
    /// - Parameter context: the context to insert into.
    /// - Returns: the record, which the context's next save writes.
    /// - Throws: ``PersistenceError`` if the context's model has no entity for the class.
    public static func insert(in context: NSManagedObjectContext) throws -> Self {
        let entity = try entity(in: context)
        let inserted = NSEntityDescription.insertNewObject(forEntityName: entity.name ?? "", into: context)
        do { return try checked(inserted) } catch {
            context.delete(inserted)
            throw error
        }
    }

    /// All records, or those that a predicate selects.
    ///
    /// - Parameters:
    ///   - predicate: the condition; nil for all records.
    ///   - sortDescriptors: the order.
    ///   - limit: the largest number of records.
    ///   - context: the context to search, including its unsaved changes.
    /// - Returns: the records, in order.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <predicate> ORDER BY <sortDescriptors> LIMIT <limit>`
    public static func all(
        where predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor]? = nil, limit: Int? = nil,
        in context: NSManagedObjectContext
    ) throws -> [Self] {
        let request = try request(predicate, in: context)
        // Core Data would take a limit of 0 for no limit.
        if let limit, limit <= 0 { return [] }
        request.sortDescriptors = sortDescriptors
        request.fetchLimit = limit ?? 0
        return try context.fetch(request).map(checked)
    }

    /// The first record that a predicate selects.
    ///
    /// - Parameters:
    ///   - predicate: the condition; nil for any record.
    ///   - sortDescriptors: the order.
    ///   - context: the context to search, including its unsaved changes.
    /// - Returns: the record; nil if there is none.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <predicate> ORDER BY <sortDescriptors> LIMIT 1`
    public static func first(
        where predicate: NSPredicate? = nil, sortDescriptors: [NSSortDescriptor]? = nil,
        in context: NSManagedObjectContext
    ) throws -> Self? {
        try all(where: predicate, sortDescriptors: sortDescriptors, limit: 1, in: context).first
    }

    /// How many records a predicate selects.
    ///
    /// - Parameters:
    ///   - predicate: the condition; nil for all records.
    ///   - context: the context to search, including its unsaved changes.
    /// - Returns: the number of records.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT count(*) … WHERE <predicate>`
    public static func count(where predicate: NSPredicate? = nil, in context: NSManagedObjectContext) throws -> Int {
        try context.count(for: try request(predicate, in: context))
    }

    /// Deletes all records, or those that a predicate selects, applying the delete rules of their relationships.
    ///
    /// - Parameters:
    ///   - predicate: the condition; nil for all records.
    ///   - context: the context, whose unsaved changes count.
    /// - Returns: how many records were deleted.
    /// - Throws: ``PersistenceError``, and Core Data's errors.
    /// - SQL: `SELECT … WHERE <predicate>`; the context's next save runs `DELETE … WHERE Z_PK = ?` each
    @discardableResult
    public static func deleteAll(
        where predicate: NSPredicate? = nil, in context: NSManagedObjectContext
    ) throws -> Int {
        let records = try all(where: predicate, in: context)
        for record in records { context.delete(record) }
        return records.count
    }

    /// An object as one of this class. It throws for one of another class.
    static func checked(_ found: Any) throws -> Self {
        if let record = found as? Self { return record }
        throw PersistenceError.wrongRecordClass(
            entity: (found as? NSManagedObject)?.entity.name ?? String(describing: Self.self),
            expected: String(reflecting: Self.self), found: String(reflecting: type(of: found)))
    }

    private static func request(
        _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: try entity(in: context).name ?? "")
        request.predicate = predicate
        return request
    }

    /// The entity of the class in the context's model, found by its class or by its name.
    static func entity(in context: NSManagedObjectContext) throws -> NSEntityDescription {
        let entities = context.persistentStoreCoordinator?.managedObjectModel.entities ?? []
        let (name, className) = (String(describing: Self.self), String(reflecting: Self.self))
        let entity =
            entities.first { $0.managedObjectClassName == className } ?? entities.first { $0.name == name }
        guard let entity else { throw PersistenceError.unknownEntity(name, known: entities.compactMap(\.name)) }
        return entity
    }
}
