import CoreDataModel
import Foundation

/// The operations of a store on sets of rows: plans in, rows out.
///
/// An engine does not depend on managed objects, contexts or coordinators. Its owner uses it from one thread at a time.
/// Operations that not every engine supports are capabilities, each with its own protocol; callers ask an engine for a
/// capability rather than for its type.
package protocol StoreEngine: AnyObject {
    /// Whether the store is at a place; nil if its URL alone says where it is.
    func isPlaced(at url: URL, _ options: [AnyHashable: Any]?) -> Bool?

    // MARK: Reading

    /// The rows that a plan finds, in order.
    func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row>

    /// Hands out the rows that a plan finds one by one, in order.
    func readRows(_ plan: FetchPlan, _ body: (consuming PlacedRow) -> Void) throws

    /// Hands out the rows that a plan finds, one at a time.
    ///
    /// - Parameters:
    ///   - plan: the fetch plan.
    ///   - body: returns whether to continue. It must not keep the row.
    /// - Throws: an `NSError` for a plan that the store cannot run, and for a store that cannot be read.
    func forEachRow(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws

    /// The rows that a plan finds, in portions. Work on one portion may read from the store; if it writes to the store,
    /// later rows may be of the former state or of the new one.
    func portions(_ plan: FetchPlan) throws -> any RowPortions

    /// The IDs of the rows that a plan finds, in order.
    func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID]

    /// How many rows a plan finds.
    func fetchCount(_ plan: FetchPlan) throws -> Int

    /// The dictionaries that a plan finds, in order.
    func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]]

    /// Hands out the values of the columns of a dictionary fetch without dictionaries, a few rows at a time: what a
    /// caller does once a call, such as to find out about its types, takes longer than to read a row.
    ///
    /// - Parameters:
    ///   - plan: the fetch plan; its columns are key paths that end at attributes.
    ///   - body: receives the values of whole rows, one row after the other, in the order of the columns.
    /// - Throws: an `NSError` for a plan that the store cannot run, and for a store that cannot be read; what `body`
    ///   throws.
    func readTuples(_ plan: FetchPlan, _ body: (ContiguousArray<StoredValue>) throws -> Void) throws

    /// The row of an object; `nil` if it is deleted.
    func row(for identifier: NSManagedObjectID) throws -> Row?

    /// The rows of objects; deleted ones are left out.
    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row>

    /// The destinations of a to-many relationship for many objects, in order if it is ordered.
    ///
    /// - Returns: a list for each of the objects.
    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]

    /// Hands out the rows of objects, one at a time; deleted ones are left out.
    ///
    /// - Parameters:
    ///   - identifiers: the objects, each once.
    ///   - body: receives the index of an object among them, and its row, which it must not keep. The rows come in any
    ///     order.
    /// - Throws: the errors of `body`, and an `NSError` for a store that cannot be read.
    func forEachRow(
        for identifiers: [NSManagedObjectID], _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws

    /// Hands out the rows that have one of some values in a slot, one at a time, in any order.
    ///
    /// - Parameters:
    ///   - entity: the entity, including its subentities.
    ///   - slot: the slot of an attribute.
    ///   - values: the values, each once.
    ///   - body: receives a row, which it must not keep.
    /// - Throws: the errors of `body`, and an `NSError` for a store that cannot be read.
    func forEachRow(
        of entity: EntityLayout, where slot: Int, isAmong values: [StoredValue], _ body: (any CurrentRow) throws -> Void
    ) throws

    /// Hands out the rows at the end of a to-many relationship, for many objects, one at a time: the rows of one object
    /// are consecutive, and in order if the relationship is ordered.
    ///
    /// - Parameters:
    ///   - relationship: the relationship.
    ///   - identifiers: the objects, each once.
    ///   - body: receives the index of an object among them, and the row of one of its destinations, which it must not
    ///     keep.
    /// - Throws: the errors of `body`, and an `NSError` for a store that cannot be read.
    func forEachDestination(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws

    /// Hands out the keys at the end of a to-many relationship, for many objects: the keys of one object are
    /// consecutive, and in order if the relationship is ordered.
    ///
    /// - Parameters:
    ///   - relationship: the relationship, whose destination has no subentities.
    ///   - identifiers: the objects, each once.
    ///   - body: receives the index of an object among them, and the key of one of its destinations.
    /// - Throws: an `NSError` for a store that cannot be read.
    func forEachKey(
        atEndOf relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ key: Int64) -> Void
    ) throws

    /// Runs readings that all see one state of the store, even if others save meanwhile.
    ///
    /// - Parameter body: the readings, which should be short.
    /// - Returns: false if the engine cannot guarantee that: nothing is run then.
    /// - Throws: the errors of `body`, and an `NSError` for a store that cannot be read.
    func readingOneState(_ body: () throws -> Void) throws -> Bool

    // MARK: Writing

    /// Reserves IDs for new rows.
    ///
    /// - Parameters:
    ///   - entities: one entity for each object.
    ///   - isSavedLater: whether the rows are saved later in a transaction that depends on what it reads until then.
    /// - Returns: an ID for each of the entities, in order.
    /// - Throws: an `NSError` for a store that cannot be written.
    func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool
    ) throws -> [NSManagedObjectID]

    /// IDs for new rows that are saved immediately, so that the save can reserve them in its own transaction.
    ///
    /// - Parameter entities: one entity for each object.
    /// - Returns: an ID for each of the entities, in order, and the promises, which belong in the change set.
    /// - Throws: an `NSError` for a store that cannot be written.
    func promiseIdentifiers(for entities: [EntityLayout]) throws -> PromisedIdentifiers

    /// Prepares for many new rows of an entity, whose IDs will be requested once they have been made. It need not wait,
    /// or do anything.
    func expectRows(_ count: Int, of entity: EntityLayout)

    /// Writes a change set in one transaction: all of it, or nothing.
    ///
    /// - Parameters:
    ///   - changes: the changes to write.
    ///   - others: saves to other stores, before this one's transaction ends; if it throws, this transaction fails too.
    /// - Returns: the values that the store computed itself, such as derived attributes.
    /// - Throws: `SaveRefusal` for conflicts, `KeysTaken` for promises that cannot be kept, an `NSError` for everything
    ///   else.
    func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult

    /// The same without further work before the transaction ends, so that the commit can be sent along with the
    /// changes.
    func save(_ changes: ChangeSet) throws -> SaveResult

    /// Whether the caller evaluates the predicate and the order of a plan, because they are code (a block), or need
    /// something that the engine cannot express. The engine then answers the plan without them.
    func evaluatesInMemory(_ plan: FetchPlan) -> Bool

    // MARK: Capabilities; `nil` if the engine does not have one

    /// Inserting rows with given keys.
    var keys: (any KeyedEngine)? { get }
    /// Batch requests, which change rows without reading them.
    var batches: (any BatchEngine)? { get }
    /// Whether the store keeps dates to the microsecond only, so that two of them may become one.
    var roundsDates: Bool { get }
    /// Many saves in one transaction.
    var longTransactions: (any LongTransactionEngine)? { get }
    /// Detecting and locking out other writers.
    var sharing: (any SharedEngine)? { get }
    /// The persistent history.
    var history: (any HistoryEngine)? { get }
    /// Query generations: former states that stay readable.
    var pinning: (any PinningEngine)? { get }
    /// Notifications of others' changes.
    var changeNotifications: (any ChangeNotifyingEngine)? { get }
    /// Reports how tables that another program may have made match the model; `nil` for an engine that makes all its
    /// tables.
    var inspection: (any InspectedEngine)? { get }
    /// The statements that the engine runs; `nil` for an engine that runs none.
    var explaining: (any ExplainingEngine)? { get }
    /// Ending what is being read, from another thread.
    var interruption: (any InterruptibleEngine)? { get }
    /// Finishing in-place migrations.
    var migration: (any MigratedEngine)? { get }
}
