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
    /// Saves that only the engine's own readings see, until they are undone.
    var previews: (any PreviewingEngine)? { get }
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
    /// Statements that people wrote; `nil` for an engine that runs none.
    var sql: (any SQLReadingEngine)? { get }
    /// Searching by an index of words; `nil` for an engine that keeps none.
    var searching: (any SearchingEngine)? { get }
    /// Ending what is being read, from another thread.
    var interruption: (any InterruptibleEngine)? { get }
    /// Finishing in-place migrations.
    var migration: (any MigratedEngine)? { get }
    /// Notes beside the rows.
    var noting: (any NotingEngine)? { get }
}

/// An engine that keeps notes beside the rows for what works with the store: bytes under names, in a table of Pippin's
/// own. A change set writes them in its transaction.
package protocol NotingEngine: StoreEngine {
    /// What is noted under a name; nil for nothing.
    func note(_ name: String) throws -> Data?

    /// The notes whose names begin with a text, in the order of their bytes.
    ///
    /// - Parameters:
    ///   - prefix: the text.
    ///   - name: the name after which the first one comes; nil for all.
    ///   - limit: how many at most.
    /// - Returns: the notes.
    /// - Throws: the errors of the store.
    func notes(beginningWith prefix: String, after name: String?, limit: Int) throws -> [(name: String, data: Data)]

    /// How many notes have names that begin with a text.
    func noteCount(beginningWith prefix: String) throws -> Int

    /// Makes the table where it is missing. Notes are written only afterwards.
    func makeNotes() throws
}

/// An engine that runs statements, and can report them.
package protocol ExplainingEngine: StoreEngine {
    /// The statement for a fetch of rows, with a placeholder for each value.
    func statement(of plan: FetchPlan) throws -> String
}

/// An engine whose long readings another thread can end.
package protocol InterruptibleEngine: StoreEngine {
    /// Ends the reading that is under way, which then throws; called from whatever thread. Nil if no store is open.
    var interrupter: (@Sendable () -> Void)? { get }
}

/// Rows that are read in portions. Rows that others write meanwhile are not included.
package protocol RowPortions: AnyObject {
    /// The next rows; empty at the end.
    func next(_ count: Int) throws -> ContiguousArray<Row>
}

/// An engine that shows what saves would come to.
package protocol PreviewingEngine: StoreEngine {
    /// Begins a transaction in which saves are seen by this engine's readings alone. They leave no history, and others
    /// cannot save meanwhile. `expectedChanges` counts, as for a save.
    ///
    /// - Throws: `UnexpectedChange`, and the errors of the store.
    func beginPreview() throws

    /// Undoes all saves since the preview began.
    ///
    /// - Returns: whether the preview was intact: not if its connection was lost.
    func endPreview() -> Bool
}

/// An engine whose stores are migrated in place.
package protocol MigratedEngine: StoreEngine {
    /// Removes one table or column whose removal a migration deferred.
    ///
    /// - Returns: whether there was one.
    func finishDeferredTask() throws -> Bool
}

/// An engine that numbers its rows, so that rows can be saved with their own keys.
package protocol KeyedEngine: StoreEngine {
    /// Reserves all keys up to a given one, so that new objects get other keys than objects that bring their own.
    func reserveKeys(upTo key: Int64, of root: EntityLayout) throws

    /// The highest key that was given out for an entity and those that inherit from it, also to objects that are gone.
    func lastKey(of root: EntityLayout) throws -> Int64
}

/// An engine that is notified of other programs' writes.
package protocol ChangeNotifyingEngine: StoreEngine {
    /// Begins to observe changes.
    ///
    /// - Parameters:
    ///   - whileIdle: runs a check while no other thread uses the engine, without waiting: returns `nil` if one does,
    ///     `false` if there is no observer any more.
    ///   - handler: called after others have changed the store.
    func observeChanges(
        whileIdle: @escaping @Sendable (() -> Bool) -> Bool?, handler: @escaping @Sendable () -> Void)
}

/// An engine for stores that another program may have made, whose tables are matched to the model.
package protocol InspectedEngine: StoreEngine {
    /// The parts of the model that the store does not have, or has ambiguously. Everything else can be used.
    var findings: [SchemaFinding] { get }

    /// The names of the indexes that the model asks for, and the store does not have.
    func missingIndexes() throws -> Set<String>

    /// The references of a relationship that lead to no object, by the primary keys of the referring objects.
    func danglingReferences(
        of relationship: RelationshipLayout, from entity: EntityLayout
    ) throws -> [Int64: [NSManagedObjectID]]
}

/// An engine that changes rows without handing them out, in one transaction each.
package protocol BatchEngine: StoreEngine {
    /// Writes new rows, or nothing.
    ///
    /// - Parameters:
    ///   - plan: the entity and the properties that get values.
    ///   - next: fills in the next row; returns false if there is none.
    /// - Returns: the result of the insertion.
    /// - Throws: the errors of `next`, and those of the store.
    func insertBatch(_ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool) throws -> BatchOutcome

    /// Changes rows.
    func updateBatch(_ plan: BatchUpdatePlan) throws -> BatchOutcome

    /// Deletes rows, applying the delete rules.
    func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome
}

/// An engine of a store that other coordinators and programs may write to.
package protocol SharedEngine: StoreEngine {
    /// A number that changes when others save to the store.
    func changeCount() throws -> Int64

    /// The value that `changeCount()` must have for the next write; `nil` if any value will do.
    var expectedChanges: Int64? { get set }

    /// Keeps others from saving to the store, until something is saved here or `readmitWriters()` is called.
    func lockOutWriters() throws

    /// Keeps others from saving, as `lockOutWriters()` does, unless the caller would have to wait: for another
    /// program's lock, for readers of the file, or for a server.
    ///
    /// - Returns: whether others are kept out.
    func lockOutWritersUnlessBusy() throws -> Bool

    /// Lets others save again.
    func readmitWriters()

    /// Whether reading does not block: it waits neither for a server, nor for another program that writes.
    var readsWithoutWaiting: Bool { get }
}

/// Thrown if others have changed a store unexpectedly.
package struct UnexpectedChange: Error {
    package init() {}
}

/// The engine of a store without one: a developer's class that is neither atomic nor incremental. It supports nothing.
package final class MissingEngine: StoreEngine {
    private let type: String
    private let url: URL?

    package init(type: String, url: URL?) { (self.type, self.url) = (type, url) }

    private func unsupported(_ work: String) -> NSError { StoreError.unsupported(work, storeType: type, url: url) }

    package func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> { throw unsupported("fetching") }
    package func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] { throw unsupported("fetching") }
    package func fetchCount(_ plan: FetchPlan) throws -> Int { throw unsupported("fetching") }
    package func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] { throw unsupported("fetching") }
    package func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        throw unsupported("fetching")
    }

    package func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] { throw unsupported("fetching") }

    package func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool
    ) throws -> [NSManagedObjectID] { throw unsupported("inserting") }

    package func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        throw unsupported("saving")
    }
}

/// An engine that can combine many saves into one transaction.
package protocol LongTransactionEngine: StoreEngine {
    /// Begins a transaction that includes all saves until it ends.
    ///
    /// - Parameters:
    ///   - makesIndexesLater: drops all indexes, so that `makeIndexes()` creates them once the rows exist.
    ///   - source: the store whose rows are copied, if they are copies: values of derived attributes are then taken
    ///     from it, and not computed, and indexes that it does not have are not made, except for those of constraints,
    ///     as far as the engine can do that.
    /// - Throws: the errors of the stores.
    func beginLongTransaction(makesIndexesLater: Bool, copying source: (any StoreEngine)?) throws

    /// Creates the deferred indexes, and what computes derived attributes. Those whose rows share values that must be
    /// unique are deferred again.
    func makeIndexes() throws

    /// Rows that share values which must be unique; empty if all indexes exist.
    ///
    /// - Parameter limit: how many groups of rows, and how many of each, to look for.
    /// - Returns: the groups, each with its constraint.
    /// - Throws: an error that names a missing index.
    func sharedUniqueValues(limit: Int) throws -> [(constraint: [String], rows: [NSManagedObjectID])]

    /// Sets the version of all rows to that of new ones.
    func resetVersions() throws

    /// Ends the long transaction, if there is one.
    ///
    /// - Throws: the store's errors; nothing of the transaction is saved then.
    func endLongTransaction(commits: Bool) throws
}

extension LongTransactionEngine {
    package func beginLongTransaction(makesIndexesLater: Bool) throws {
        try beginLongTransaction(makesIndexesLater: makesIndexesLater, copying: nil)
    }
}
