import CoreDataModel
import Foundation
import PredicateFormat

/// What a store does for rows, in sets: plans in, rows out.
///
/// An engine knows nothing of managed objects, contexts or coordinators. Its owner uses it from one thread at a time.
/// What not every engine can do are capabilities, each a protocol of its own. To ask an engine for a capability takes the place of
/// asking what it is.
package protocol StoreEngine: AnyObject {
    // MARK: Reading

    /// The rows that a plan finds, in order.
    func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row>

    /// Hands out the rows that a plan finds one by one, in order.
    func readRows(_ plan: FetchPlan, _ body: (consuming PlacedRow) -> Void) throws

    /// Hands out the rows that a plan finds, one at a time.
    ///
    /// - Parameters:
    ///   - plan: what to fetch.
    ///   - body: returns whether to go on. It must not keep the row.
    /// - Throws: an `NSError` for a plan that the store cannot run, and for a store that cannot be read.
    func forEachRow(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws

    /// The rows that a plan finds, in portions. What is done with one portion may read from the store; where it writes to it, rows
    /// that come later may be of the former state or of the new one.
    func portions(_ plan: FetchPlan) throws -> any RowPortions

    /// The IDs of the rows that a plan finds, in order.
    func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID]

    /// How many rows a plan finds.
    func fetchCount(_ plan: FetchPlan) throws -> Int

    /// The dictionaries that a plan finds, in order.
    func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]]

    /// The row of an object, `nil` when it is gone.
    func row(for identifier: NSManagedObjectID) throws -> Row?

    /// The rows of objects; those that are gone are left out.
    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row>

    /// The destinations of a to-many relationship for many objects, in order where it has one.
    ///
    /// - Returns: a list for each of the objects.
    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]]

    /// Hands out the rows of objects, one at a time; those that are gone are left out.
    ///
    /// - Parameters:
    ///   - identifiers: the objects, each once.
    ///   - body: gets the place of an object among them, and its row, which it must not keep. The rows come in any order.
    /// - Throws: what `body` throws, and an `NSError` for a store that cannot be read.
    func forEachRow(
        for identifiers: [NSManagedObjectID], _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws

    /// Hands out the rows that have one of some values in a slot, one at a time, in any order.
    ///
    /// - Parameters:
    ///   - entity: the entity, whose subentities count, too.
    ///   - slot: the slot of an attribute.
    ///   - values: the values, each once.
    ///   - body: gets a row, which it must not keep.
    /// - Throws: what `body` throws, and an `NSError` for a store that cannot be read.
    func forEachRow(
        of entity: EntityLayout, where slot: Int, isAmong values: [StoredValue], _ body: (any CurrentRow) throws -> Void
    ) throws

    /// Hands out the rows at the end of a to-many relationship, for many objects, one at a time: those of one object one after the
    /// other, in their order where the relationship has one.
    ///
    /// - Parameters:
    ///   - relationship: the relationship.
    ///   - identifiers: the objects, each once.
    ///   - body: gets the place of an object among them, and a row that it leads to, which it must not keep.
    /// - Throws: what `body` throws, and an `NSError` for a store that cannot be read.
    func forEachDestination(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws

    /// Hands out the keys at the end of a to-many relationship, for many objects: those of one object one after the other, in their order
    /// where the relationship has one.
    ///
    /// - Parameters:
    ///   - relationship: the relationship, whose destination has no subentities.
    ///   - identifiers: the objects, each once.
    ///   - body: gets the place of an object among them, and the key of a row that it leads to.
    /// - Throws: an `NSError` for a store that cannot be read.
    func forEachKey(
        atEndOf relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ key: Int64) -> Void
    ) throws

    /// Runs readings that all find one state of the store, whoever saves meanwhile.
    ///
    /// - Parameter body: reads, and takes a short time.
    /// - Returns: false where the engine cannot make sure of that: nothing is run then.
    /// - Throws: what `body` throws, and an `NSError` for a store that cannot be read.
    func readingOneState(_ body: () throws -> Void) throws -> Bool

    // MARK: Writing

    /// Hands out IDs for new rows.
    ///
    /// - Parameters:
    ///   - entities: one entity for each object.
    ///   - isSavedLater: whether the rows are saved in a transaction that decides by what it reads until then.
    /// - Returns: an ID for each of the entities, in order.
    /// - Throws: an `NSError` for a store that cannot be written.
    func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool
    ) throws -> [NSManagedObjectID]

    /// IDs for new rows that are saved right away, so that the save can count them in its own transaction.
    ///
    /// - Parameter entities: one entity for each object.
    /// - Returns: an ID for each of the entities, in order, and the promises, which go into the change set.
    /// - Throws: an `NSError` for a store that cannot be written.
    func promiseIdentifiers(for entities: [EntityLayout]) throws -> PromisedIdentifiers

    /// Gets ready for many new rows of an entity, whose IDs will be asked for when they have been made. It need not wait, nor do anything.
    func expectRows(_ count: Int, of entity: EntityLayout)

    /// Writes a change set in one transaction, or nothing.
    ///
    /// - Parameters:
    ///   - changes: what to write.
    ///   - others: saves to other stores, before this one's transaction ends; what it throws ends that too.
    /// - Returns: the values that the store computed itself, such as derived attributes.
    /// - Throws: `SaveRefusal` for conflicts, `KeysTaken` for promises that cannot be kept, an `NSError` for everything else.
    func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult

    /// The same where nothing else is to succeed before the transaction ends, so that its end may go along with it.
    func save(_ changes: ChangeSet) throws -> SaveResult

    // MARK: Capabilities

    /// Whether the caller applies the predicate and the order of a plan: they are code (a block), or ask for what the engine cannot say. The
    /// engine then answers the plan without them.
    func leavesToAsker(_ plan: FetchPlan) -> Bool
    /// Numbers new rows on from given keys.
    var keys: (any KeyedEngine)? { get }
    /// Changes rows without reading them.
    var batches: (any BatchEngine)? { get }
    /// Takes in many saves as one.
    var longTransactions: (any LongTransactionEngine)? { get }
    /// Counts the saves of others, and keeps them out.
    var sharing: (any SharedEngine)? { get }
    /// Keeps a history that can be read.
    var history: (any HistoryEngine)? { get }
    /// Keeps a former state readable.
    var pinning: (any PinningEngine)? { get }
    /// Tells of changes that others make.
    var news: (any NewsEngine)? { get }
    /// Was made by somebody else, and matched to the model.
    var inspection: (any InspectedEngine)? { get }
    /// Saying which statements are run; nil for what runs none.
    var explaining: (any ExplainingEngine)? { get }
    /// Finishes migrations of the file in its place.
    var migration: (any MigratedEngine)? { get }
}

/// Rows that are read a portion at a time. What others write meanwhile is not in them.
package protocol RowPortions: AnyObject {
    /// The next rows, none at the end.
    func next(_ count: Int) throws -> ContiguousArray<Row>
}

// What an engine gets for nothing.
extension StoreEngine {
    package func expectRows(_ count: Int, of entity: EntityLayout) {}

    package func promiseIdentifiers(for entities: [EntityLayout]) throws -> PromisedIdentifiers {
        PromisedIdentifiers(try makePermanentIdentifiers(for: entities, isSavedLater: true))
    }

    package func readRows(_ plan: FetchPlan, _ body: (consuming PlacedRow) -> Void) throws {
        for row in try fetchRows(plan) { body(PlacedRow(row)) }
    }

    package func forEachRow(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws {
        let rows = try fetchRows(plan)
        guard let first = rows.first else { return }
        let current = ReadRow(first)
        for row in rows {
            current.stand(on: row)
            guard body(current) else { return }
        }
    }

    package func forEachRow(
        for identifiers: [NSManagedObjectID], _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        let rows = try rows(for: identifiers)
        guard let first = rows.first else { return }
        let current = ReadRow(first)
        // What is there comes in the order asked for.
        var place = 0
        for row in rows {
            while identifiers[place] != row.objectID { place += 1 }
            current.stand(on: row)
            try body(place, current)
            place += 1
        }
    }

    package func forEachRow(
        of entity: EntityLayout, where slot: Int, isAmong values: [StoredValue], _ body: (any CurrentRow) throws -> Void
    ) throws {
        try forEachFetchedRow(of: entity, where: slot, isAmong: values, body)
    }

    /// The same by fetches with a condition.
    package func forEachFetchedRow(
        of entity: EntityLayout, where slot: Int, isAmong values: [StoredValue], _ body: (any CurrentRow) throws -> Void
    ) throws {
        guard let attribute = entity.slots[slot].attribute else { return }
        var failure: (any Error)?
        for start in stride(from: 0, to: values.count, by: 500) {
            var plan = FetchPlan(entity: entity)
            let wanted = values[start..<min(start + 500, values.count)].compactMap { $0.objectValue(for: attribute) }
            plan.predicate = NSPredicate(format: "%K IN %@", argumentArray: [attribute.name, wanted])
            try forEachRow(plan) { row in
                do { try body(row) } catch { failure = error }
                return failure == nil
            }
            if let failure { throw failure }
        }
    }

    package func forEachDestination(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        let lists = try destinations(of: relationship, for: identifiers)
        var wanted: [NSManagedObjectID] = []
        var seen: Set<NSManagedObjectID> = []
        for identifier in lists.joined() where seen.insert(identifier).inserted { wanted.append(identifier) }
        let rows = try rows(for: wanted)
        guard let first = rows.first else { return }
        let byIdentifier = Dictionary(rows.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
        let current = ReadRow(first)
        for (place, list) in lists.enumerated() {
            for identifier in list {
                guard let row = byIdentifier[identifier] else { continue }
                current.stand(on: row)
                try body(place, current)
            }
        }
    }

    package func forEachKey(
        atEndOf relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ key: Int64) -> Void
    ) throws {
        for (place, list) in try destinations(of: relationship, for: identifiers).enumerated() {
            for identifier in list { body(place, identifier.key) }
        }
    }

    package func readingOneState(_ body: () throws -> Void) throws -> Bool { false }

    package func portions(_ plan: FetchPlan) throws -> any RowPortions { FetchedPortions(try fetchRows(plan)) }

    package func row(for identifier: NSManagedObjectID) throws -> Row? { try rows(for: [identifier]).first }

    package func save(_ changes: ChangeSet) throws -> SaveResult { try save(changes, with: {}) }

    package func leavesToAsker(_ plan: FetchPlan) -> Bool { false }
    package var keys: (any KeyedEngine)? { nil }
    package var batches: (any BatchEngine)? { nil }
    package var longTransactions: (any LongTransactionEngine)? { nil }
    package var sharing: (any SharedEngine)? { nil }
    package var history: (any HistoryEngine)? { nil }
    package var pinning: (any PinningEngine)? { nil }
    package var news: (any NewsEngine)? { nil }
    package var inspection: (any InspectedEngine)? { nil }
    package var explaining: (any ExplainingEngine)? { nil }
    package var migration: (any MigratedEngine)? { nil }
}

/// Rows that are all there already.
private final class FetchedPortions: RowPortions {
    private var rest: ArraySlice<Row>

    init(_ rows: ContiguousArray<Row>) { rest = Array(rows)[...] }

    func next(_ count: Int) -> ContiguousArray<Row> {
        defer { rest = rest.dropFirst(count) }
        return ContiguousArray(rest.prefix(count))
    }
}
