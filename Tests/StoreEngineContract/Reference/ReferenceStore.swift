import CoreDataModel
import StoreEngine

/// What a store holds, in dictionaries: written to be obviously right, not to be fast.
struct ReferenceStore {
    typealias Identifier = NSManagedObjectID

    /// The rows. An ID's entity is that of its row.
    private(set) var rows: [Identifier: Row] = [:]
    /// The greatest key that was handed out, by root entity.
    var lastKeys: [String: Int64] = [:]
    /// Many-to-many relationships: the destinations by source, from both ends.
    private var pairs: [ObjectIdentifier: [Identifier: Set<Identifier>]] = [:]
    /// To-many relationships without inverse: the one source that a destination belongs to.
    private var owners: [ObjectIdentifier: [Identifier: Identifier]] = [:]
    /// Ordered relationships: destinations in order, by source. One that is not in here comes before those that are.
    private var places: [ObjectIdentifier: [Identifier: [Identifier]]] = [:]

    // MARK: Rows

    /// The rows of an entity and those below it, by key.
    func rows(of entity: EntityLayout) -> [Row] {
        rows.values.filter { $0.objectID.layout.isKind(of: entity) }.sorted { $0.objectID.key < $1.objectID.key }
    }

    mutating func insert(_ identifier: Identifier, version: Int64, _ values: ContiguousArray<StoredValue>) {
        var stored = values
        for slot in identifier.layout.transientSlots { stored[slot] = .null }
        rows[identifier] = Row(objectID: identifier, version: version, values: stored)
    }

    /// Gives a row values in some slots, and the next version.
    mutating func update(_ identifier: Identifier, _ values: [Int: StoredValue], version: Int64) {
        for (slot, value) in values where !identifier.layout.slots[slot].isTransient {
            rows[identifier]?.values[slot] = value
            // Whoever moves to another source has no place there yet.
            if let inverse = identifier.layout.slots[slot].relationship?.inverse, inverse.isOrdered {
                forgetPlace(of: identifier, in: inverse)
            }
        }
        rows[identifier]?.version = version
    }

    /// Removes a row, and what the store keeps of it outside of rows.
    mutating func remove(_ identifier: Identifier) {
        rows[identifier] = nil
        for relationship in pairs.keys {
            pairs[relationship]?[identifier] = nil
            for source in pairs[relationship]?.keys.map({ $0 }) ?? [] {
                pairs[relationship]?[source]?.remove(identifier)
            }
        }
        for relationship in owners.keys {
            owners[relationship] = owners[relationship]?.filter { $0.key != identifier && $0.value != identifier }
        }
    }

    /// Computes all derived attributes anew.
    mutating func derive() {
        guard rows.values.contains(where: { !$0.objectID.layout.derivedSlots.isEmpty }) else { return }
        let objects = ReferenceObjects(self)
        for row in rows.values {
            for slot in row.objectID.layout.derivedSlots {
                guard let attribute = row.objectID.layout.slots[slot].attribute,
                    let expression = (attribute.description as? NSDerivedAttributeDescription)?.derivationExpression
                else { continue }
                let value = CompiledExpression(expressionTree(of: expression))
                    .evaluate(.object(objects.object(row.objectID)))
                rows[row.objectID]?.values[slot] = StoredValue(value.any, for: attribute)
            }
        }
    }

    // MARK: To-many relationships

    mutating func connect(_ source: Identifier, _ relationship: RelationshipLayout, _ destination: Identifier) {
        if let inverse = relationship.inverse {
            guard inverse.isToMany else { return }
            pairs[ObjectIdentifier(relationship), default: [:]][source, default: []].insert(destination)
            pairs[ObjectIdentifier(inverse), default: [:]][destination, default: []].insert(source)
        } else {
            forgetPlace(of: destination, in: relationship)
            owners[ObjectIdentifier(relationship), default: [:]][destination] = source
        }
    }

    mutating func disconnect(_ source: Identifier, _ relationship: RelationshipLayout, _ destination: Identifier) {
        if let inverse = relationship.inverse {
            guard inverse.isToMany else { return }
            pairs[ObjectIdentifier(relationship)]?[source]?.remove(destination)
            pairs[ObjectIdentifier(inverse)]?[destination]?.remove(source)
            places[ObjectIdentifier(relationship)]?[source]?.removeAll { $0 == destination }
            places[ObjectIdentifier(inverse)]?[destination]?.removeAll { $0 == source }
        } else if owners[ObjectIdentifier(relationship)]?[destination] == source {
            forgetPlace(of: destination, in: relationship)
            owners[ObjectIdentifier(relationship)]?[destination] = nil
        }
    }

    mutating func setOrder(_ source: Identifier, _ relationship: RelationshipLayout, _ order: [Identifier]) {
        places[ObjectIdentifier(relationship), default: [:]][source] = order
    }

    private mutating func forgetPlace(of destination: Identifier, in relationship: RelationshipLayout) {
        for source in places[ObjectIdentifier(relationship)]?.keys.map({ $0 }) ?? [] {
            places[ObjectIdentifier(relationship)]?[source]?.removeAll { $0 == destination }
        }
    }

    /// The destinations of a to-many relationship: by key, or in order.
    func destinations(of relationship: RelationshipLayout, for source: Identifier) -> [Identifier] {
        let members = members(of: relationship, for: source).sorted { $0.key < $1.key }
        guard relationship.isOrdered else { return members }
        let order = places[ObjectIdentifier(relationship)]?[source] ?? []
        return members.filter { !order.contains($0) } + order.filter { members.contains($0) }
    }

    private func members(of relationship: RelationshipLayout, for source: Identifier) -> [Identifier] {
        guard let inverse = relationship.inverse else {
            return (owners[ObjectIdentifier(relationship)] ?? [:]).filter { $0.value == source }.map(\.key)
        }
        if inverse.isToMany { return Array(pairs[ObjectIdentifier(relationship)]?[source] ?? []) }
        return rows.values.filter { row in
            row.objectID.layout.isKind(of: inverse.source) && row.values[inverse.slot] == .identifier(source)
        }.map(\.objectID)
    }

    /// The destinations of any relationship that are there.
    func related(_ relationship: RelationshipLayout, _ source: Identifier) -> [Identifier] {
        if relationship.isToMany { return destinations(of: relationship, for: source) }
        guard case .identifier(let destination)? = rows[source]?.values[relationship.slot] else { return [] }
        return rows[destination] == nil ? [] : [destination]
    }

    // MARK: Unique values

    /// The values of a uniqueness constraint, nil where one is missing: nothing equals what is missing.
    static func uniqueValues(
        _ constraint: [String], _ entity: EntityLayout, _ values: ContiguousArray<StoredValue>
    ) -> [StoredValue]? {
        let found = constraint.compactMap { name in entity.slotIndex(forName: name).map { values[$0] } }
        return found.contains(where: \.isNull) ? nil : found
    }

    /// The entity that declares a constraint, whose rows and those of entities below share it.
    static func declarer(of constraint: [String], _ entity: EntityLayout) -> EntityLayout {
        var declarer = entity
        while let parent = declarer.superentity, parent.uniquenessConstraints.contains(constraint) { declarer = parent }
        return declarer
    }

    /// Whether two rows share what must be unique.
    var hasSharedUniqueValues: Bool {
        rows.values.contains { row in
            row.objectID.layout.uniquenessConstraints.contains { !sharing($0, row.objectID, row.values).isEmpty }
        }
    }

    /// The other rows with the same unique values, by key.
    func sharing(
        _ constraint: [String], _ identifier: Identifier, _ values: ContiguousArray<StoredValue>
    ) -> [Row] {
        let entity = identifier.layout
        guard let wanted = Self.uniqueValues(constraint, entity, values) else { return [] }
        return rows(of: Self.declarer(of: constraint, entity)).filter { row in
            row.objectID != identifier
                && Self.uniqueValues(constraint, row.objectID.layout, row.values) == wanted
        }
    }
}
