import CoreDataModel
import Foundation

/// A program's model combined with a store's so that nothing in the store is lost without permission. Pure.
///
/// A program may know only a part of a store. Entities that it does not name are left alone: they are part of the
/// ``model``, with their relationships, so that changes to the program's own objects also apply to these relationships.
/// Data of named entities that the model would not keep is a ``ModelLoss``, unless the rules permit the loss.
package struct ModelReconciliation {
    /// The program's model, with the store's additional parts.
    package internal(set) var model: ModelDocument
    /// The data that the model would not keep; the store must not be migrated to it unless this is empty.
    package internal(set) var losses: [ModelLoss] = []
    /// The properties that start with new values when the store is migrated.
    package internal(set) var dropped = DroppedNames()
    /// The store's relationships whose objects may be in several others now, and in one only in the model.
    package internal(set) var exclusive: [ExclusiveRelationship] = []
    /// The store's entities that the program does not name.
    package internal(set) var leftAlone: [String] = []
    /// The new attributes whose values are made of those that the store has, by the program's entity, with the store's
    /// names of these.
    package internal(set) var derived: [String: [String: String]] = [:]

    /// The store's entities whose names other ones take, which go if they have no objects.
    package var replaced: Set<String> {
        Set(
            losses.filter { loss in
                guard case .replaced = loss.reason else { return false }
                return true
            }.map(\.entity))
    }

    let program: ModelDocument
    let stored: ModelDocument
    let rules: ReconciliationRules
    /// The store's names of the program's entities.
    let formerNames: [String: String]
    /// The program's names of the store's entities.
    let presentNames: [String: String]
    /// The store's names of the program's relationships that are kept, by the program's entity.
    var relationships: [String: [String: String]] = [:]

    package init(program: ModelDocument, stored: ModelDocument, rules: ReconciliationRules) {
        self.program = program
        self.stored = stored
        self.rules = rules
        model = program
        dropped.entities = rules.removedEntities
        formerNames = RenamingMatch.sources(
            of: program.entities.map { Renameable($0.name, $0.renamingIdentifier) },
            in: stored.entities.filter { !rules.removedEntities.contains($0.name) }.map {
                Renameable($0.name, $0.renamingIdentifier)
            })
        presentNames = Dictionary(formerNames.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        for entity in program.entities { matchRelationships(entity) }
        for entity in program.entities { noteExclusive(entity) }
        for index in model.entities.indices { reconcile(index) }
        leaveAlone()
        model.versionIdentifiers = Set(stored.versionIdentifiers + program.versionIdentifiers).sorted()
        losses = losses.sorted { ($0.entity, $0.property ?? "") < ($1.entity, $1.property ?? "") }
    }

    /// The store's name of an entity that the program names.
    package func formerName(ofEntity name: String) -> String? { formerNames[name] }

    /// The store's name of a property of an entity that the program names; nil for a new property.
    package func formerName(of property: String, entity name: String) -> String? {
        guard let entity = model.entity(named: name),
            let former = formerNames[name].flatMap({ stored.entity(named: $0) })
        else { return nil }
        return presentProperties(of: entity, former).first { $0.value == property }?.key
    }

    mutating func lose(
        _ property: String?, of former: EntityDocument, _ reason: ModelLoss.Reason, present: String? = nil
    ) {
        losses.append(
            ModelLoss(
                entity: former.name, modelEntity: present ?? presentNames[former.name], property: property,
                reason: reason))
    }

    // MARK: Entities that the program names

    private mutating func reconcile(_ index: Int) {
        let entity = model.entities[index]
        guard let former = formerNames[entity.name].flatMap({ stored.entity(named: $0) }) else { return }
        if former.name != entity.name, entity.renamingIdentifier == nil {
            lose(nil, of: former, .renamedSince(entity.name))
        }
        if former.parentName != nil || stored.entities.contains(where: { $0.parentName == former.name }) {
            lose(nil, of: former, .inherits)
        }
        reconcileAttributes(of: entity, former)
        let kept = reconcileRelationships(of: entity, former)
        model.entities[index].properties += kept
        keepConstraints(index, former)
        keepPreservation(index, former)
    }

    /// Keeps in the history what other programs want to know of deleted objects, which no struct says.
    private mutating func keepPreservation(_ index: Int, _ former: EntityDocument) {
        let present = presentProperties(of: model.entities[index], former)
        for property in former.properties where property.attribute?.preservesValueOnDeletion == true {
            guard let name = present[property.name],
                let position = model.entities[index].properties.firstIndex(where: { $0.name == name }),
                var attribute = model.entities[index].properties[position].attribute
            else { continue }
            attribute.preservesValueOnDeletion = true
            model.entities[index].properties[position].kind = .attribute(attribute)
        }
    }

    // MARK: Constraints and indexes

    /// Keeps constraints and indexes that other programs have added, if their properties are kept.
    private mutating func keepConstraints(_ index: Int, _ former: EntityDocument) {
        let entity = model.entities[index]
        let released = rules.releasedConstraints[entity.name] ?? []
        let present = presentProperties(of: entity, former)
        for constraint in former.uniquenessConstraints {
            let names = constraint.compactMap { present[$0] }
            guard names.count == constraint.count, !released.contains(names),
                !entity.uniquenessConstraints.contains(names)
            else { continue }
            model.entities[index].uniquenessConstraints.append(names)
        }
        for fetchIndex in former.indexes where !entity.indexes.contains(where: { $0.name == fetchIndex.name }) {
            let names = fetchIndex.elements.compactMap(\.propertyName)
            guard fetchIndex.predicate == nil, names.count == fetchIndex.elements.count,
                names.allSatisfy({ present[$0] == $0 })
            else { continue }
            model.entities[index].indexes.append(fetchIndex)
        }
    }

    /// The program's names of the store's properties that are kept.
    private func presentProperties(of entity: EntityDocument, _ former: EntityDocument) -> [String: String] {
        let names = RenamingMatch.sources(
            of: entity.properties.map { Renameable($0.name, $0.renamingIdentifier) },
            in: former.properties.filter { !dropped.contains($0.name, of: former.name) }.map {
                Renameable($0.name, $0.renamingIdentifier)
            })
        return Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }
}

// Entities that the program does not name.
extension ModelReconciliation {
    mutating func leaveAlone() {
        let taken = Set(program.entities.map { $0.name.lowercased() })
        for var entity in stored.entities where presentNames[entity.name] == nil {
            guard !rules.removedEntities.contains(entity.name) else { continue }
            guard !taken.contains(entity.name.lowercased()) else {
                let other = program.entities.first { $0.name.lowercased() == entity.name.lowercased() }
                lose(nil, of: entity, .replaced(by: other.flatMap { formerNames[$0.name] } ?? ""))
                continue
            }
            let former = entity
            entity.properties = former.properties.compactMap { property in
                guard var relationship = property.relationship else { return property }
                guard let destination = relationship.destinationName else { return property }
                if rules.removedEntities.contains(destination) {
                    if !stored.isImplied(property, of: former) {
                        lose(property.name, of: former, .destinationRemoved(destination))
                    }
                    return nil
                }
                guard let present = presentNames[destination] else { return property }
                guard !dropped.contains(property.name, of: former.name),
                    let inverse = relationship.inverseName,
                    model.entity(named: present)?.property(named: inverse)?.relationship?.destinationName
                        == former.name
                else { return nil }
                relationship.destinationName = present
                var property = property
                property.kind = .relationship(relationship)
                return property
            }
            leftAlone.append(entity.name)
            model.entities.append(entity)
        }
        for (name, request) in stored.fetchRequestTemplates
        where model.fetchRequestTemplates[name] == nil && leftAlone.contains(request.entityName) {
            model.fetchRequestTemplates[name] = request
        }
    }
}

/// The losses that a program permits when a store is migrated to its model, by names. Everything else is kept.
package struct ReconciliationRules: Equatable, Sendable {
    /// The store's entities that are removed with their rows.
    package var removedEntities: Set<String> = []
    /// The store's properties that are removed, by the program's entity; an element of a composite attribute as
    /// `address.street`.
    package var removed: [String: Set<String>] = [:]
    /// The program's properties that may hold less than the store's, by the program's entity.
    package var narrowed: [String: Set<String>] = [:]
    /// The uniqueness constraints that are removed, by the program's entity.
    package var releasedConstraints: [String: [[String]]] = [:]
    /// The store's attributes of whose values the program makes those of new ones, by the program's entity and
    /// attribute.
    package var derived: [String: [String: String]] = [:]

    package init() {}

    func removes(_ property: String, of entity: String) -> Bool { removed[entity]?.contains(property) ?? false }

    func narrows(_ property: String, of entity: String) -> Bool { narrowed[entity]?.contains(property) ?? false }
}

/// Data in a store that a model would not keep.
package struct ModelLoss: Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        /// The model has no such property.
        case removed
        /// The values cannot be converted.
        case changed(from: String, to: String)
        /// The values can be converted, if they fit.
        case narrowed(from: String, to: String)
        /// The values are JSON, which gets columns, and may have parts that are none of these.
        case otherParts(NestedParts)
        /// The values are JSON, and those that are missing would become empty lists or dictionaries.
        case filledIn
        /// The model has a property or entity for which this is the former name: the store is newer.
        case renamedSince(String)
        /// Another entity of the store is renamed to this one's name.
        case replaced(by: String)
        /// The relationship leads to an entity that the rules remove.
        case destinationRemoved(String)
        /// The entity has a parent or children in the store, which a struct cannot have.
        case inherits
        /// The property is new and required, and has no default value for the rows that there are.
        case unfilled(isRelationship: Bool)
        /// The property is required, and some rows have no value, since it was optional.
        case emptied(isRelationship: Bool)
    }

    /// The entity's name in the store.
    package let entity: String
    /// The entity's name in the model; nil if it has none.
    package let modelEntity: String?
    /// The property's name in the store; nil for the whole entity.
    package let property: String?
    package let reason: Reason
}

/// The parts of a nested value that has columns of its own, by their keys in JSON.
package struct NestedParts: Equatable, Sendable, Codable {
    /// By key; with the parts of a nested value within, and nil for a single value.
    package let members: [String: NestedParts?]

    package init(members: [String: NestedParts?]) { self.members = members }

    /// The parts of a composite attribute.
    init(_ elements: [PropertyDocument]) {
        var members: [String: NestedParts?] = [:]
        for element in elements where element.userInfo[NestedValueInfo.mark] == nil {
            let inner = element.attribute?.elements ?? []
            var key = element.name
            if case .string(let name)? = element.userInfo[NestedValueInfo.key] { key = name }
            members[key] = .some(inner.isEmpty ? nil : NestedParts(inner))
        }
        self.members = members
    }
}
