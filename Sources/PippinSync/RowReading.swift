import Foundation
import StoreSession
import SyncPlanning

/// A row as a store has it, with the lists that it carries.
struct FoundRow {
    let row: StoredRow
    /// The rows at the ends of the relationships that are lists, by the relationships' names.
    var lists: [String: [NSManagedObjectID]] = [:]
}

/// Reads rows of a store as the planner has them. It is used under the session's lock, during one transaction: it
/// remembers which row has which identifier.
final class RowReading {
    let mapping: SyncMapping
    let store: SessionStore
    private let session: StoreSession
    /// The identifiers of rows that were looked up.
    private var identifiers: [NSManagedObjectID: RowID] = [:]

    init(_ mapping: SyncMapping, _ session: StoreSession, _ store: SessionStore) {
        (self.mapping, self.session, self.store) = (mapping, session, store)
    }

    // MARK: By identifiers

    /// The rows with some identifiers, as far as there are such rows.
    func find(_ ids: some Sequence<RowID>) throws -> [RowID: FoundRow] {
        var found: [RowID: FoundRow] = [:]
        for (name, ids) in Dictionary(grouping: ids, by: \.entity) {
            guard let entity = mapping[name] else { continue }
            let keys = ids.compactMap { SyncValues.key($0.key.string, entity.key) }
            var rows: [StoredRow] = []
            try store.engine.forEachRow(of: entity.layout, where: entity.keySlot, isAmong: keys) {
                rows.append(try $0.whole())
            }
            for item in try withLists(rows, of: entity) {
                guard let text = SyncValues.text(ofKey: item.row.values[entity.keySlot]) else { continue }
                let id = RowID(name, text)
                identifiers[item.row.objectID] = id
                found[id] = item
            }
        }
        return found
    }

    /// The rows with some identifiers as the planner has them.
    func rows(_ ids: some Sequence<RowID>) throws -> [RowID: PlannedRow] { try planned(find(ids)) }

    func withLists(_ rows: [StoredRow], of entity: SyncMapping.Entity) throws -> [FoundRow] {
        var found = rows.map { FoundRow(row: $0) }
        if rows.isEmpty { return found }
        for property in entity.properties {
            guard case .list(let relationship) = property.place else { continue }
            let lists = try session.destinations(of: relationship, for: rows.map(\.objectID))
            for (place, list) in lists.enumerated() { found[place].lists[relationship.name] = list }
        }
        return found
    }

    /// Found rows as the planner has them.
    func planned(_ found: [RowID: FoundRow]) throws -> [RowID: PlannedRow] {
        try lookUp(found.values.flatMap { ends(of: $0) })
        var planned: [RowID: PlannedRow] = [:]
        for (id, item) in found {
            if let entity = mapping[id.entity] { planned[id] = row(item, of: entity) }
        }
        return planned
    }

    /// Rows of one entity as the planner has them, in their order, without their scopes.
    func planned(_ rows: [StoredRow], of entity: SyncMapping.Entity) throws -> [(id: RowID, row: PlannedRow)] {
        let found = try withLists(rows, of: entity)
        if entity.hasReferences { try lookUp(found.flatMap { ends(of: $0) }) }
        return found.compactMap { item in
            SyncValues.text(ofKey: item.row.values[entity.keySlot]).map {
                (RowID(entity.name, $0), row(item, of: entity))
            }
        }
    }

    private func row(_ item: FoundRow, of entity: SyncMapping.Entity) -> PlannedRow {
        var values = [String: SyncValue](minimumCapacity: entity.properties.count)
        for property in entity.properties { values[property.name] = value(of: property, in: item) }
        return PlannedRow(values: values)
    }

    /// The rows of a store that have some identifiers.
    func identifiers(of ids: Set<RowID>) throws -> [RowID: NSManagedObjectID] {
        var found: [RowID: NSManagedObjectID] = [:]
        for (name, ids) in Dictionary(grouping: ids, by: \.entity) {
            guard let entity = mapping[name] else { continue }
            let keys = ids.compactMap { SyncValues.key($0.key.string, entity.key) }
            try store.engine.forEachRow(of: entity.layout, where: entity.keySlot, isAmong: keys) { row in
                guard let text = SyncValues.text(ofKey: try row.value(at: entity.keySlot)) else { return }
                found[RowID(name, text)] = row.objectID
            }
        }
        return found
    }

    private func ends(of item: FoundRow) -> [NSManagedObjectID] {
        var ends = item.lists.values.flatMap(\.self)
        for relationship in item.row.objectID.layout.toOnes {
            if case .identifier(let end) = item.row.values[relationship.slot] { ends.append(end) }
        }
        return ends
    }

    private func value(of property: SyncMapping.Property, in item: FoundRow) -> SyncValue? {
        switch property.place {
        case .list(let relationship): list(item.lists[relationship.name] ?? [], relationship)
        case .attribute(let slot, _), .element(let slot, _, _): value(of: property, item.row.values[slot])
        case .reference(let relationship): value(of: property, item.row.values[relationship.slot])
        }
    }

    /// A property's value in the value of its slot; nil for one that cannot be read here. References must have been
    /// looked up.
    func value(of property: SyncMapping.Property, _ stored: StoredValue) -> SyncValue? {
        switch property.place {
        case .attribute(_, let attribute): return SyncValues.value(stored, attribute)
        case .element(_, let path, let attribute):
            guard case .object(let object) = stored, let composite = object as? CompositeValue else { return .null }
            return SyncValues.value(composite.stored(at: path[...], attribute), attribute)
        case .reference:
            guard case .identifier(let end) = stored, let id = identifiers[end] else { return .null }
            return .reference(id)
        case .list: return nil
        }
    }

    /// The value of a list whose members were looked up.
    func list(_ members: [NSManagedObjectID], _ relationship: RelationshipLayout) -> SyncValue {
        let ids = members.compactMap { identifiers[$0] }
        return relationship.isOrdered ? .list(ids) : .set(Set(ids.map { .reference($0) }))
    }

    // MARK: By rows

    /// Looks up the identifiers of rows. Those of rows that are gone stay unknown, unless somebody noted them.
    func lookUp(_ rows: some Sequence<NSManagedObjectID>) throws {
        if identifiers.count > 100_000 { identifiers = [:] }
        let missing = Set(rows).filter { identifiers[$0] == nil }
        if missing.isEmpty { return }
        for group in Dictionary(grouping: missing, by: \.layout.name).values {
            for start in stride(from: 0, to: group.count, by: 1_000) {
                let part = Array(group[start..<min(start + 1_000, group.count)])
                try store.engine.forEachRow(for: part) { place, row in
                    guard let entity = mapping.entity(of: part[place].layout),
                        let text = SyncValues.text(ofKey: try row.value(at: entity.keySlot))
                    else { return }
                    identifiers[part[place]] = RowID(entity.name, text)
                }
            }
        }
    }

    func note(_ identifier: NSManagedObjectID, _ id: RowID) { identifiers[identifier] = id }

    func id(of identifier: NSManagedObjectID) -> RowID? { identifiers[identifier] }

    // MARK: Scopes

    /// Gives rows their scopes, which their own values name or lead to.
    ///
    /// - Parameters:
    ///   - rows: the rows; nil for those that are not there. Owners that are among them are taken as they are here,
    ///     others as the store has them.
    ///   - schema: where scopes are.
    /// - Throws: the errors of the store.
    func addScopes(to rows: inout [RowID: PlannedRow?], _ schema: SyncSchema) throws {
        guard schema.isScoped else { return }
        var known = rows
        var open = Dictionary(uniqueKeysWithValues: rows.keys.map { ($0, $0) })
        // Owners of owners, and so on; the bound is for damaged stores.
        for _ in 0..<16 where !open.isEmpty {
            var next: [RowID: RowID] = [:]
            for (id, end) in open {
                guard case .some(.some(let row)) = known[end] else { continue }
                switch schema.scope(of: end, row.values) {
                case .everybody: rows[id]??.scope = nil
                case .named(let scope): rows[id]??.scope = scope
                case .asOwner(let owner): next[id] = owner
                }
            }
            let found = try self.rows(Set(next.values).filter { known[$0] == nil })
            for (id, row) in found { known[id] = .some(row) }
            open = next
        }
    }

    // MARK: Questions

    /// The rows that refer to some rows.
    func referrers(of ids: Set<RowID>) throws -> [RowID: Set<RowID>] {
        var referrers = Dictionary(uniqueKeysWithValues: ids.map { ($0, Set<RowID>()) })
        for (id, item) in try find(ids) {
            let identifier = item.row.objectID
            var found: Set<NSManagedObjectID> = []
            for relationship in identifier.layout.relationships where !relationship.isTransient {
                // What leads here is the other end of what leads there.
                guard let inverse = relationship.inverse, try SyncMapping.isCarried(inverse) else { continue }
                if relationship.isToMany {
                    found.formUnion(try session.destinations(of: relationship, for: [identifier]).flatMap(\.self))
                } else if case .identifier(let end) = item.row.values[relationship.slot] {
                    found.insert(end)
                }
            }
            try lookUp(found)
            referrers[id] = Set(found.compactMap { identifiers[$0] })
        }
        return referrers
    }

    /// The rows that may have values which only one row may have.
    func holders(of keys: Set<UniqueKey>) throws -> [UniqueKey: Set<RowID>] {
        var holders: [UniqueKey: Set<RowID>] = [:]
        for key in keys {
            holders[key] = []
            guard let entity = mapping[key.entity],
                let property = entity.properties.first(where: { $0.name == key.properties[0] }),
                case .attribute(let slot, let attribute) = property.place
            else { continue }
            var found: Set<RowID> = []
            let value = SyncValues.stored(key.values[0], attribute)
            try store.engine.forEachRow(of: entity.layout, where: slot, isAmong: [value]) { row in
                guard let text = SyncValues.text(ofKey: try row.value(at: entity.keySlot)) else { return }
                found.insert(RowID(entity.name, text))
            }
            holders[key] = found
        }
        return holders
    }
}
