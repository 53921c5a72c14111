import CoreDataModel
import Foundation
import StoreEngine

extension ModelLayout {
    /// The entities that a program cannot use any more when another one has migrated some of them: these, and all that
    /// relationships or inheritance connect with them, before or since. A change of any of the others concerns none of
    /// these. Pure.
    ///
    /// - Parameters:
    ///   - names: the entities whose version in the store is another one.
    ///   - stored: the model that the store has now.
    /// - Returns: the names of the entities.
    package func entities(connectedWith names: Set<String>, in stored: NSManagedObjectModel) -> Set<String> {
        var neighbours: [String: Set<String>] = [:]
        func connect(_ entity: String, _ other: String?) {
            guard let other else { return }
            neighbours[entity, default: []].insert(other)
            neighbours[other, default: []].insert(entity)
        }
        for entity in entities {
            connect(entity.name, entity.superentity?.name)
            for relationship in entity.relationships { connect(entity.name, relationship.destination.name) }
        }
        for entity in stored.entities {
            let name = entity.name ?? ""
            connect(name, entity.superentity?.name)
            for relationship in entity.relationshipsByName.values {
                connect(name, relationship.destinationEntity?.name)
            }
        }
        var found = names
        var waiting = Array(names)
        while let name = waiting.popLast() {
            for next in neighbours[name] ?? [] where found.insert(next).inserted { waiting.append(next) }
        }
        return found
    }
}

extension SQLSchema {
    /// Checks that an entity is still of the version that the model has.
    ///
    /// - Throws: the error that says of another version.
    package func checkCurrent(_ entity: EntityLayout) throws {
        if let outdated, outdated.entities.contains(entity.name) { throw outdated.error }
    }
}

/// The entities that another program has migrated while the store was open.
package struct OutdatedEntities: Sendable {
    package let entities: Set<String>
    /// What their use is answered with.
    package let error: NSError

    package init(_ entities: Set<String>, _ error: NSError) { (self.entities, self.error) = (entities, error) }
}

extension EntityMapping {
    /// Checks that a property's place in the store is known.
    ///
    /// - Throws: 134020, naming entity and property, if it is not.
    package func checkAvailable(_ property: String, _ use: String = "cannot be saved", url: URL? = nil) throws {
        guard !unavailable.isEmpty, let finding = unavailable[property] else { return }
        throw finding.error("“\(layout.name).\(property)” \(use)", url: url)
    }

    /// Checks that each value of a new row has a place.
    ///
    /// - Throws: 134020, naming entity and property, if a value that is not null has none.
    package func checkAvailable(_ values: some RandomAccessCollection<StoredValue>, url: URL?) throws {
        for (slot, value) in zip(layout.slots, values) where !value.isNull {
            try checkAvailable(slot.name, url: url)
        }
    }
}

extension SQLSchema {
    /// Why an entity has no table here; nil if it has one, or belongs to another store.
    package func finding(of entity: EntityLayout) -> SchemaFinding? {
        findings.first { $0.property == nil && $0.entity == entity.root.name }
    }

    /// The mapping of an entity, which must exist.
    ///
    /// - Throws: an `NSError` if its table is unknown, of another version, or belongs to another store.
    func neededMapping(of entity: EntityLayout) throws -> EntityMapping {
        if let mapping = mapping(of: entity) { return mapping }
        try checkCurrent(entity)
        if let finding = finding(of: entity) {
            throw finding.error("Objects of “\(entity.name)” cannot be fetched", url: nil)
        }
        throw SQLError.unsupported("entity “\(entity.name)”, which this store does not hold")
    }
}

extension EntityMapping {
    /// The condition that distinguishes the entity's rows from others in its table, `t0.Z_ENT IN (3, 4)`; nil if all
    /// rows are wanted.
    func filter(includesSubentities: Bool = true, alias: String) -> SQLFragment? {
        guard sharesTable else { return nil }
        guard layout.superentity != nil || !includesSubentities else {
            // The plus keeps SQLite from looking almost all rows up by an index.
            return leavesOutStrangers ? "+\(SQLFragment.isEntity(numbers, "\(.entity, of: alias)"))" : nil
        }
        return .isEntity(includesSubentities ? numbers : [number], "\(.entity, of: alias)")
    }
}

extension SQLFragment {
    /// Whether an entity's number is one of the given ones: `Z_ENT = 3`, `Z_ENT IN (3, 4)`.
    ///
    /// - Parameters:
    ///   - numbers: the numbers.
    ///   - column: the column with the number.
    /// - Returns: the condition.
    package static func isEntity(_ numbers: [Int], _ column: SQLFragment = "\(.entity)") -> SQLFragment {
        if numbers.count == 1, let number = numbers.first { return "\(column) = \(number: number)" }
        return "\(column) IN (\(.list(numbers.map { "\(number: $0)" })))"
    }
}
