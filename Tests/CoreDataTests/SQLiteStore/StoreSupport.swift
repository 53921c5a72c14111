import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLiteEngine
@testable import StoreEngine

/// Opens a store without a coordinator.
func openStore(
    _ model: NSManagedObjectModel, at url: URL, options: [AnyHashable: Any]? = nil, configuration: String? = nil
) throws -> SQLiteEngine {
    let engine = SQLiteEngine(StoreFacts(url: url, configuration: configuration, options: options))
    try engine.open(model)
    return engine
}

extension SQLiteEngine {
    var identifier: String { facts.identity.uuid }
    var identity: StoreIdentity { facts.identity }
    var metadata: [String: Any] {
        get { facts.metadata }
        set {
            facts.metadata = newValue
            facts.metadataAreChanged = true
        }
    }
    var isReadOnly: Bool { facts.isReadOnly }

    func destinations(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID] { try destinations(of: relationship, for: [identifier])[0] }

    func layout(_ name: String) throws -> EntityLayout {
        try #require(try current().schema.layout.entityByName[name])
    }

    func plan(_ entity: String, _ predicate: NSPredicate? = nil) throws -> FetchPlan {
        var plan = FetchPlan(entity: try layout(entity))
        plan.predicate = predicate
        return plan
    }

    /// A change that inserts an object with the given values; others have their defaults.
    func insertion(
        _ entity: String, _ values: [String: StoredValue], toMany: [ToManyChange] = []
    ) throws -> RowChange {
        let layout = try layout(entity)
        let identifier = try makePermanentIdentifiers(for: [layout], isSavedLater: false)[0]
        var row = layout.defaultValues
        for (name, value) in values { row[try #require(layout.slotIndex(forName: name))] = value }
        return RowChange(
            objectID: identifier, version: 0, values: row, changedSlots: Array(layout.slots.indices),
            toManyChanges: toMany)
    }

    /// A change that sets values of a row.
    func update(_ row: Row, _ values: [String: StoredValue], toMany: [ToManyChange] = []) throws -> RowChange {
        let layout = row.objectID.layout
        var all = row.values
        var slots: [Int] = []
        for (name, value) in values {
            let slot = try #require(layout.slotIndex(forName: name))
            all[slot] = value
            slots.append(slot)
        }
        return RowChange(
            objectID: row.objectID, version: row.version, values: all, changedSlots: slots.sorted(),
            toManyChanges: toMany)
    }

    func toManyChange(
        _ entity: String, _ name: String, added: [NSManagedObjectID] = [], removed: [NSManagedObjectID] = [],
        order: [NSManagedObjectID]? = nil
    ) throws -> ToManyChange {
        ToManyChange(
            relationship: try #require(try layout(entity).relationship(named: name)), added: added, removed: removed,
            order: order)
    }

    @discardableResult
    func save(inserted: [RowChange] = [], updated: [RowChange] = [], deleted: [Row] = []) throws -> SaveResult {
        var changes = ChangeSet()
        changes.inserted = inserted
        changes.updated = updated
        changes.deleted = deleted.map { RowDeletion(objectID: $0.objectID, version: $0.version) }
        return try save(changes)
    }

    func value(_ row: Row, _ name: String) throws -> StoredValue {
        row.values[try #require(row.objectID.layout.slotIndex(forName: name))]
    }
}
