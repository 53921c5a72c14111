import CoreDataModel
import Foundation
import PredicateFormat

// Default implementations for all engines.
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

    package func readTuples(_ plan: FetchPlan, _ body: (ContiguousArray<StoredValue>) throws -> Void) throws {
        for row in try plan.tuples(of: fetchDictionaries(plan)) { try body(row) }
    }

    package func forEachRow(
        for identifiers: [NSManagedObjectID], _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        let rows = try rows(for: identifiers)
        guard let first = rows.first else { return }
        let current = ReadRow(first)
        // Existing rows are in the requested order.
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

    package func isPlaced(at url: URL, _ options: [AnyHashable: Any]?) -> Bool? { nil }

    package func evaluatesInMemory(_ plan: FetchPlan) -> Bool { false }
    package var keys: (any KeyedEngine)? { nil }
    package var batches: (any BatchEngine)? { nil }
    package var roundsDates: Bool { false }
    package var previews: (any PreviewingEngine)? { nil }
    package var longTransactions: (any LongTransactionEngine)? { nil }
    package var sharing: (any SharedEngine)? { nil }
    package var history: (any HistoryEngine)? { nil }
    package var pinning: (any PinningEngine)? { nil }
    package var changeNotifications: (any ChangeNotifyingEngine)? { nil }
    package var inspection: (any InspectedEngine)? { nil }
    package var explaining: (any ExplainingEngine)? { nil }
    package var sql: (any SQLReadingEngine)? { nil }
    package var searching: (any SearchingEngine)? { nil }
    package var interruption: (any InterruptibleEngine)? { nil }
    package var migration: (any MigratedEngine)? { nil }
    package var noting: (any NotingEngine)? { nil }
}

/// Rows that have all been read already.
private final class FetchedPortions: RowPortions {
    private var rest: ArraySlice<Row>

    init(_ rows: ContiguousArray<Row>) { rest = Array(rows)[...] }

    func next(_ count: Int) -> ContiguousArray<Row> {
        defer { rest = rest.dropFirst(count) }
        return ContiguousArray(rest.prefix(count))
    }
}
