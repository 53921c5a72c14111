import CoreDataModel

// Relationships of entities that the program names.
extension ModelReconciliation {
    mutating func matchRelationships(_ entity: EntityDocument) {
        guard let former = formerNames[entity.name].flatMap({ stored.entity(named: $0) }) else { return }
        relationships[entity.name] = RenamingMatch.sources(
            of: entity.properties.filter { $0.relationship != nil }.map { Renameable($0.name, $0.renamingIdentifier) },
            in: former.properties.filter { $0.relationship != nil && !$0.isTransient }.map {
                Renameable($0.name, $0.renamingIdentifier)
            })
    }

    /// Notes the relationships whose objects could be in several others, and are to be in one only.
    mutating func noteExclusive(_ entity: EntityDocument) {
        guard let former = formerNames[entity.name].flatMap({ stored.entity(named: $0) }) else { return }
        for (name, formerName) in (relationships[entity.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let old = former.property(named: formerName)?.relationship,
                let new = entity.property(named: name)?.relationship,
                stored.inverse(of: old)?.isToMany == true, program.inverse(of: new)?.isToMany == false
            else { continue }
            exclusive.append(ExclusiveRelationship(entity: former.name, name: formerName))
        }
    }

    /// - Returns: the relationships of entities that the program does not name.
    mutating func reconcileRelationships(
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
        for property in entity.properties {
            guard let new = property.relationship, !new.isToMany else { continue }
            let old = relationships[entity.name]?[property.name].flatMap { former.property(named: $0) }
            // A new side of pairs that there are is filled from the other side.
            let isFilled = new.destinationName.flatMap { relationships[$0] }?[new.inverseName ?? ""] != nil
            if old != nil || !isFilled { require(property, old, of: former, isRelationship: true) }
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
            // A difference that the other side declares is reported there. If an object is to be in one other only, the
            // side that has no property is filled from the other one.
            guard !isImplied || leadsElsewhere else {
                dropped.insert(property.name, of: former.name)
                return
            }
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
}

/// A relationship of a store, by its name there.
package struct ExclusiveRelationship: Equatable, Sendable {
    package let entity: String
    package let name: String
}

extension ModelDocument {
    /// The other side of a relationship; nil if it has none.
    fileprivate func inverse(of relationship: RelationshipDocument) -> RelationshipDocument? {
        guard let name = relationship.inverseName, let destination = relationship.destinationName else { return nil }
        return entity(named: destination)?.property(named: name)?.relationship
    }

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
