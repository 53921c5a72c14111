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
    package private(set) var model: ModelDocument
    /// The data that the model would not keep; the store must not be migrated to it unless this is empty.
    package private(set) var losses: [ModelLoss] = []
    /// The properties that start with new values when the store is migrated.
    package private(set) var dropped = DroppedNames()
    /// The store's entities that the program does not name.
    package private(set) var leftAlone: [String] = []

    private let program: ModelDocument
    private let stored: ModelDocument
    private let rules: ReconciliationRules
    /// The store's names of the program's entities.
    private let formerNames: [String: String]
    /// The program's names of the store's entities.
    private let presentNames: [String: String]
    /// The store's names of the program's relationships that are kept, by the program's entity.
    private var relationships: [String: [String: String]] = [:]

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

    private mutating func lose(
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
    }

    private mutating func reconcileAttributes(of entity: EntityDocument, _ former: EntityDocument) {
        let attributes = former.properties.filter { $0.attribute != nil && !$0.isTransient }
        let names = RenamingMatch.sources(
            of: entity.properties.filter { $0.attribute != nil }.map { Renameable($0.name, $0.renamingIdentifier) },
            in: attributes.map { Renameable($0.name, $0.renamingIdentifier) })
        let present = Dictionary(names.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        for attribute in attributes {
            guard let old = attribute.attribute else { continue }
            guard let successor = present[attribute.name].flatMap({ entity.property(named: $0) }),
                let new = successor.attribute
            else {
                guard !rules.removes(attribute.name, of: entity.name) else { continue }
                lose(attribute.name, of: former, gone(attribute, in: entity))
                continue
            }
            if successor.name != attribute.name, successor.renamingIdentifier == nil {
                lose(attribute.name, of: former, .renamedSince(successor.name))
            }
            // A nested value that was stored as JSON gets columns of its own.
            if old.type == .binaryDataAttributeType, successor.userInfo[NestedValueInfo.presence] != nil { continue }
            compare(old, new, of: entity, former, path: attribute.name, present: successor.name, isElement: false)
        }
    }

    /// The reason why the model no longer has a property.
    private func gone(_ property: PropertyDocument, in entity: EntityDocument) -> ModelLoss.Reason {
        guard let other = entity.property(named: property.name) else { return .removed }
        return .changed(from: Self.spoken(property), to: Self.spoken(other))
    }

    private static func spoken(_ property: PropertyDocument) -> String {
        if let attribute = property.attribute { return attribute.type.spokenName }
        guard let relationship = property.relationship else { return "fetched property" }
        let destination = relationship.destinationName ?? ""
        return relationship.isToMany
            ? (relationship.isOrdered ? "[\(destination)]" : "Set<\(destination)>") : destination
    }

    private mutating func compare(
        _ old: AttributeDocument, _ new: AttributeDocument, of entity: EntityDocument, _ former: EntityDocument,
        path: String, present: String, isElement: Bool
    ) {
        let fit = AttributeFit(old.type, in: new.type)
        if fit == .differs || (fit == .narrows && !rules.narrows(present, of: entity.name)) {
            if !isElement, rules.removes(path, of: entity.name) {
                dropped.insert(path, of: former.name)
                return
            }
            let (from, to) = (old.type.spokenName, new.type.spokenName)
            lose(path, of: former, fit == .differs ? .changed(from: from, to: to) : .narrowed(from: from, to: to))
        }
        guard old.type == .compositeAttributeType, new.type == .compositeAttributeType else { return }
        for element in old.elements {
            guard let oldElement = element.attribute else { continue }
            // The information of a mark is also in the value's columns, or in other marks.
            if element.userInfo[NestedValueInfo.mark] != nil { continue }
            let (elementPath, elementPresent) = ("\(path).\(element.name)", "\(present).\(element.name)")
            let newElement = new.elements.first { $0.name == element.name }
            if oldElement.type == .binaryDataAttributeType, newElement?.userInfo[NestedValueInfo.presence] != nil {
                continue
            }
            if let newElement = newElement?.attribute {
                compare(
                    oldElement, newElement, of: entity, former, path: elementPath, present: elementPresent,
                    isElement: true)
            } else if !rules.removes(elementPath, of: entity.name) {
                lose(elementPath, of: former, .removed)
            }
        }
    }

    // MARK: Relationships

    private mutating func matchRelationships(_ entity: EntityDocument) {
        guard let former = formerNames[entity.name].flatMap({ stored.entity(named: $0) }) else { return }
        relationships[entity.name] = RenamingMatch.sources(
            of: entity.properties.filter { $0.relationship != nil }.map { Renameable($0.name, $0.renamingIdentifier) },
            in: former.properties.filter { $0.relationship != nil && !$0.isTransient }.map {
                Renameable($0.name, $0.renamingIdentifier)
            })
    }

    /// - Returns: the relationships of entities that the program does not name.
    private mutating func reconcileRelationships(
        of entity: EntityDocument, _ former: EntityDocument
    ) -> [PropertyDocument] {
        var kept: [PropertyDocument] = []
        let present = Dictionary(
            (relationships[entity.name] ?? [:]).map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        for property in former.properties where !property.isTransient {
            guard let old = property.relationship else { continue }
            if let successor = present[property.name].flatMap({ entity.property(named: $0) }),
                let new = successor.relationship
            {
                compare(property, old, successor, new, of: entity, former)
            } else if let backReference = reconcile(property, old, of: entity, former) {
                kept.append(backReference)
            }
        }
        return kept
    }

    private mutating func compare(
        _ property: PropertyDocument, _ old: RelationshipDocument, _ successor: PropertyDocument,
        _ new: RelationshipDocument, of entity: EntityDocument, _ former: EntityDocument
    ) {
        let isImplied = stored.isImplied(property, of: former)
        let leadsElsewhere = new.destinationName.map { formerNames[$0] != old.destinationName } ?? true
        let isNarrower = old.isToMany && !new.isToMany
        if leadsElsewhere || isNarrower {
            // A difference that the other side declares is reported there.
            guard !isImplied || leadsElsewhere else { return }
            if rules.removes(property.name, of: entity.name) {
                drop(property, old, of: former)
            } else {
                lose(
                    property.name, of: former,
                    .changed(from: Self.spoken(property), to: Self.spoken(successor)))
            }
            return
        }
        if successor.name != property.name, successor.renamingIdentifier == nil, !isImplied {
            lose(property.name, of: former, .renamedSince(successor.name))
        }
        if old.isOrdered, !new.isOrdered, new.isToMany, !isImplied, !rules.narrows(successor.name, of: entity.name) {
            lose(property.name, of: former, .narrowed(from: Self.spoken(property), to: Self.spoken(successor)))
        }
    }

    /// Handles a relationship that the program does not have.
    ///
    /// - Returns: the relationship, if it is kept.
    private mutating func reconcile(
        _ property: PropertyDocument, _ old: RelationshipDocument, of entity: EntityDocument, _ former: EntityDocument
    ) -> PropertyDocument? {
        if rules.removes(property.name, of: entity.name) {
            drop(property, old, of: former)
            return nil
        }
        guard let destination = old.destinationName else { return nil }
        if rules.removedEntities.contains(destination) {
            // The other side is removed by name, and this one with it, unless it was declared here.
            if !stored.isImplied(property, of: former) {
                lose(property.name, of: former, .destinationRemoved(destination))
            }
            return nil
        }
        if let present = presentNames[destination] {
            // It may be kept under the name of its other side.
            let isKept = relationships[present]?.values.contains { $0 == old.inverseName } ?? false
            if !isKept, !stored.isImplied(property, of: former) {
                lose(property.name, of: former, gone(property, in: entity))
            }
            return nil
        }
        guard stored.isImplied(property, of: former), entity.property(named: property.name) == nil else {
            lose(property.name, of: former, gone(property, in: entity))
            return nil
        }
        return property
    }

    /// Drops a relationship together with its other side.
    private mutating func drop(_ property: PropertyDocument, _ old: RelationshipDocument, of former: EntityDocument) {
        dropped.insert(property.name, of: former.name)
        if let inverse = old.inverseName, let destination = old.destinationName {
            dropped.insert(inverse, of: destination)
        }
    }

    // MARK: Constraints and indexes

    /// Keeps constraints and indexes that somebody else has set, if their properties are kept.
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

    // MARK: Entities that the program does not name

    private mutating func leaveAlone() {
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

extension ModelDocument {
    /// Whether a relationship only exists because Core Data keeps each one from both sides: its name is derived from
    /// the declared side, as in `booksOfShop`.
    func isImplied(_ property: PropertyDocument, of entity: EntityDocument) -> Bool {
        guard let relationship = property.relationship, let inverse = relationship.inverseName,
            let destination = relationship.destinationName
        else { return false }
        let former = self.entity(named: destination)?.renamingIdentifier
        return [destination, former].compactMap { $0 }.contains { property.name == "\(inverse)Of\($0)" }
    }
}
