import CompactCollections
import CoreDataModel
import Foundation
import Ordering

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
        losses = losses.ordered { ($0.entity, $0.property ?? "") < ($1.entity, $1.property ?? "") }
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
