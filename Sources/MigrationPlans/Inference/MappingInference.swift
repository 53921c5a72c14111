import CoreDataModel
import Foundation

/// Infers a mapping between two versions of a model, by Core Data's documented rules for lightweight migration. Pure.
package enum MappingInference {
    /// - Parameters:
    ///   - source: the version of the store.
    ///   - destination: the version to migrate to.
    ///   - dropped: the names in the source whose values the destination does not take, even if it has the same names.
    /// - Returns: the mapping of each entity and property of the destination.
    /// - Throws: an `NSError`, code 134190, that names the destination's entity and property which cannot be inferred.
    package static func plan(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        dropping dropped: DroppedNames = DroppedNames()
    ) throws -> MappingPlan {
        do { return try inferred(from: source, to: destination, dropping: dropped) } catch { throw error.nsError }
    }

    package static func inferred(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        dropping dropped: DroppedNames = DroppedNames()
    ) throws(InferenceFailure) -> MappingPlan {
        let names = RenamingMatch.sources(
            of: destination.entities.map(\.renameable),
            in: source.entities.map(\.renameable).filter { !dropped.entities.contains($0.name) })
        try HierarchyCheck.check(names, from: source, to: destination)
        var relationships = ComparedRelationships(successors: RenamingMatch.successors(names))
        var kept: [EntityMappingPlan] = []
        var added: [EntityMappingPlan] = []
        for entity in destination.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            guard let name = entity.name else { continue }
            if let sourceName = names[name], let former = source.entitiesByName[sourceName] {
                kept.append(try plan(for: entity, from: former, comparing: &relationships, dropping: dropped))
            } else {
                added.append(plan(adding: entity))
            }
        }
        let plans = Dictionary(kept.map { ($0.destination, $0) }, uniquingKeysWith: { first, _ in first })
        let failures = InverseCheck.failures(in: destination) { entity, relationship in
            guard let plan = plans[entity.name], let former = plan.source.flatMap({ source.entitiesByName[$0] }) else {
                return nil
            }
            return plan.source(of: relationship.name).flatMap { former.relationshipsByName[$0] }
        }
        if let failure = failures.first { throw failure }
        let surviving = Set(names.values)
        let removed = source.entities.compactMap(\.name).filter { !surviving.contains($0) }.sorted()
        return MappingPlan(
            entities: kept + added + removed.map { EntityMappingPlan(kind: .remove, source: $0, destination: nil) })
    }

    /// The plan by which each entity and property stays what it is, whatever its renaming identifier says.
    package static func plan(keeping model: NSManagedObjectModel) -> MappingPlan {
        MappingPlan(
            entities: model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.map { entity in
                EntityMappingPlan(
                    kind: .copy, source: entity.name, destination: entity.name,
                    attributes: entity.storedAttributes.map { PropertyPlan(name: $0.name, source: $0.name) },
                    relationships: entity.storedRelationships.map { PropertyPlan(name: $0.name, source: $0.name) })
            })
    }

    private static func plan(adding entity: NSEntityDescription) -> EntityMappingPlan {
        EntityMappingPlan(
            kind: .add, source: nil, destination: entity.name,
            attributes: entity.storedAttributes.map { PropertyPlan(name: $0.name, source: nil) },
            relationships: entity.storedRelationships.map { PropertyPlan(name: $0.name, source: nil) })
    }

    private static func plan(
        for entity: NSEntityDescription, from source: NSEntityDescription,
        comparing compared: inout ComparedRelationships, dropping dropped: DroppedNames
    ) throws(InferenceFailure) -> EntityMappingPlan {
        let attributes = source.storedAttributes.filter { !dropped.contains($0.name, of: source.name) }
        let attributeNames = RenamingMatch.attributeSources(
            of: entity.storedAttributes.map(\.renameable), in: attributes.map(\.renameable))
        let formerAttributes = named(attributes)
        var attributePlans: [PropertyPlan] = []
        for attribute in entity.storedAttributes {
            let former = attributeNames[attribute.name].flatMap { formerAttributes[$0] }
            if let former { try AttributeChange.check(former, attribute, entity: entity.name ?? "") }
            attributePlans.append(PropertyPlan(name: attribute.name, source: former?.name))
        }
        let relationships = source.storedRelationships.filter { !dropped.contains($0.name, of: source.name) }
        let relationshipNames = RenamingMatch.sources(
            of: entity.storedRelationships.map(\.renameable), in: relationships.map(\.renameable))
        let formerRelationships = named(relationships)
        var relationshipPlans: [PropertyPlan] = []
        for relationship in entity.storedRelationships {
            var former = relationshipNames[relationship.name].flatMap { formerRelationships[$0] }
            if let known = former, try !compared.isTakenAlong(known, relationship, entity: entity.name ?? "") {
                former = nil
            }
            relationshipPlans.append(PropertyPlan(name: relationship.name, source: former?.name))
        }
        return EntityMappingPlan(
            kind: isSame(source, entity) ? .copy : .transform, source: source.name, destination: entity.name,
            attributes: attributePlans, relationships: relationshipPlans)
    }

    private static func named<Property: NSPropertyDescription>(_ properties: [Property]) -> [String: Property] {
        Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Whether the version hashes agree, comparing Apple's with Apple's or ours with ours, but never one of each.
    private static func isSame(_ source: NSEntityDescription, _ destination: NSEntityDescription) -> Bool {
        guard source.name == destination.name else { return false }
        if let first = source.recordedVersionHash, let second = destination.recordedVersionHash {
            return first == second
        }
        return source.ownVersionHash == destination.ownVersionHash
    }
}

extension NSEntityDescription {
    var renameable: Renameable { Renameable(name ?? "", renamingIdentifier) }

    /// The attributes that a store has, including inherited ones, by name.
    var storedAttributes: [NSAttributeDescription] {
        attributesByName.values.filter { !$0.isTransient }.sorted { $0.name < $1.name }
    }

    /// The relationships that a store has, including inherited ones, by name.
    var storedRelationships: [NSRelationshipDescription] {
        relationshipsByName.values.filter { !$0.isTransient }.sorted { $0.name < $1.name }
    }
}

extension NSPropertyDescription {
    package var renameable: Renameable { Renameable(name, renamingIdentifier) }
}

extension MappingInference {
    /// All reasons why a mapping cannot be inferred, by the destination's entities; empty if it can be. For tools that
    /// report them all at once.
    package static func failures(
        from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> [InferenceFailure] {
        var failures: [InferenceFailure] = []
        func note(_ check: () throws(InferenceFailure) -> Void) {
            do { try check() } catch { failures.append(error) }
        }
        let names = ModelCorrespondence(from: source, to: destination)
        note { () throws(InferenceFailure) in try HierarchyCheck.check(names.entities, from: source, to: destination) }
        let entities = destination.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        var compared: Set<[ObjectIdentifier]> = []
        func compare(_ properties: [NSPropertyDescription], of entity: NSEntityDescription) {
            guard let name = entity.name, let former = names.entities[name].flatMap({ source.entitiesByName[$0] })
            else { return }
            for property in properties {
                guard let old = names.properties[name]?[property.name].flatMap({ former.propertiesByName[$0] }),
                    compared.insert([ObjectIdentifier(old), ObjectIdentifier(property)]).inserted
                else { continue }
                note { () throws(InferenceFailure) in
                    if let old = old as? NSAttributeDescription, let attribute = property as? NSAttributeDescription {
                        try AttributeChange.check(old, attribute, entity: name)
                    } else if let old = old as? NSRelationshipDescription,
                        let relationship = property as? NSRelationshipDescription,
                        !RelationshipChange.startsAnew(old, relationship, successors: names.successors)
                    {
                        try RelationshipChange.check(old, relationship, entity: name, successors: names.successors)
                    }
                }
            }
        }
        // An inherited property is reported for the entity that declares it, or else for those that had another one.
        for entity in entities { compare(entity.ownProperties.sorted { $0.name < $1.name }, of: entity) }
        for entity in entities { compare(entity.storedAttributes + entity.storedRelationships, of: entity) }
        return failures
            + InverseCheck.failures(in: destination) { entity, relationship in
                guard let name = entity.name,
                    let former = names.entities[name].flatMap({ source.entitiesByName[$0] })?.relationshipsByName[
                        names.properties[name]?[relationship.name] ?? ""],
                    !RelationshipChange.startsAnew(former, relationship, successors: names.successors)
                else { return nil }
                return former
            }
    }
}

/// Two relationships that were independent of each other cannot become inverses: their pairs differ, and an object
/// would gain or lose what only one side says.
enum InverseCheck {
    /// - Parameters:
    ///   - destination: the version to migrate to.
    ///   - former: the former relationship of an entity's relationship; nil for a new one.
    /// - Returns: what cannot be inferred, by the entities' names.
    static func failures(
        in destination: NSManagedObjectModel,
        former: (NSEntityDescription, NSRelationshipDescription) -> NSRelationshipDescription?
    ) -> [InferenceFailure] {
        func formers(_ relationship: NSRelationshipDescription) -> [NSRelationshipDescription] {
            relationship.entity.selfAndDescendants.compactMap { former($0, relationship) }
        }
        func leads(_ side: [NSRelationshipDescription], to other: [NSRelationshipDescription]) -> Bool {
            let keys = Set(other.map(Key.init))
            return side.contains { $0.inverseRelationship.map { keys.contains(Key($0)) } ?? false }
        }
        var failures: [InferenceFailure] = []
        for entity in destination.entities.sorted(by: { ($0.name ?? "") < ($1.name ?? "") }) {
            for property in entity.ownProperties.sorted(by: { $0.name < $1.name }) {
                guard let relationship = property as? NSRelationshipDescription, !relationship.isTransient,
                    let inverse = relationship.inverseRelationship, !inverse.isTransient
                else { continue }
                // Each pair of relationships is looked at once.
                let (key, other) = (Key(relationship), Key(inverse))
                guard (key.entity, key.name) < (other.entity, other.name) else { continue }
                let (own, back) = (formers(relationship), formers(inverse))
                guard !own.isEmpty, !back.isEmpty, !leads(own, to: back), !leads(back, to: own) else { continue }
                failures.append(
                    InferenceFailure(
                        entity: key.entity, property: key.name,
                        reason: "It was independent of “\(other.entity).\(other.name)”, and cannot become its inverse"))
            }
        }
        return failures
    }

    /// A relationship by the entity that declares it.
    private struct Key: Hashable {
        let entity: String
        let name: String

        init(_ relationship: NSRelationshipDescription) {
            (entity, name) = (relationship.entity.name ?? "", relationship.name)
        }
    }
}

/// Entities may move within a hierarchy and out of it, but two hierarchies cannot become one: their objects have the
/// same primary keys.
enum HierarchyCheck {
    /// - Parameters:
    ///   - names: the names of the entities in the source, by their names in the destination.
    ///   - source: the version of the store.
    ///   - destination: the version to migrate to.
    /// - Throws: an error for an entity that moves in a way that cannot be inferred.
    static func check(
        _ names: [String: String], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) throws(InferenceFailure) {
        for root in destination.entities.filter({ $0.superentity == nil }).sorted(by: {
            ($0.name ?? "") < ($1.name ?? "")
        }) {
            var first: (entity: String, root: String)?
            for member in root.selfAndDescendants {
                guard let name = member.name, let sourceName = names[name],
                    let former = source.entitiesByName[sourceName]?.rootEntity.name
                else { continue }
                guard let known = first else {
                    first = (name, former)
                    continue
                }
                if known.root != former {
                    throw InferenceFailure(
                        entity: name,
                        reason:
                            "Entities “\(known.entity)” and “\(name)” have a common parent, and had none in the source "
                            + "model; hierarchies cannot be merged")
                }
            }
        }
    }
}

/// The parts of the source that an inferred mapping ignores, by the source's names: properties that start with new
/// values although the destination has one of the same name.
package struct DroppedNames: Equatable, Sendable {
    package var entities: Set<String> = []
    package var properties: [String: Set<String>] = [:]

    package init() {}

    package mutating func insert(_ property: String, of entity: String) {
        properties[entity, default: []].insert(property)
    }

    package func contains(_ property: String, of entity: String?) -> Bool {
        entity.flatMap { properties[$0]?.contains(property) } ?? false
    }
}

/// Why no mapping can be inferred, with the destination's entity and property.
package struct InferenceFailure: Error, Equatable, Sendable {
    package var entity: String
    package var property: String?
    package var reason: String

    /// The error in Core Data's form: 134190, with `entity`, `property` and `reason` in the user info.
    package var nsError: NSError {
        let place = property.map { "“\(entity).\($0)”" } ?? "entity “\(entity)”"
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: "No mapping can be inferred for \(place): \(reason).",
            NSLocalizedRecoverySuggestionErrorKey:
                "Write a mapping model for this step, or go there over a version of the model in between.",
            "entity": entity, "reason": reason,
        ]
        if let property { info["property"] = property }
        return NSError(domain: NSCocoaErrorDomain, code: CoreDataErrorCode.inferredMappingModel, userInfo: info)
    }
}

/// The names of a model's entities and properties in another version of it, by their renaming identifiers, as a value.
/// An inferred mapping uses it; it also exists if none can be inferred.
package struct ModelCorrespondence: Equatable, Sendable {
    /// The entities' names in the source, by their names in the destination.
    package let entities: [String: String]
    /// The entities' names in the destination, by their names in the source.
    package let successors: [String: String]
    /// The stored properties' names in the source, by entity and name in the destination, including inherited ones.
    /// Several attributes may come from one.
    package let properties: [String: [String: String]]

    package init(from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        let names = RenamingMatch.sources(
            of: destination.entities.map(\.renameable), in: source.entities.map(\.renameable))
        var properties: [String: [String: String]] = [:]
        for (name, sourceName) in names {
            guard let entity = destination.entitiesByName[name], let former = source.entitiesByName[sourceName] else {
                continue
            }
            let attributes = RenamingMatch.attributeSources(
                of: entity.storedAttributes.map(\.renameable), in: former.storedAttributes.map(\.renameable))
            let relationships = RenamingMatch.sources(
                of: entity.storedRelationships.map(\.renameable), in: former.storedRelationships.map(\.renameable))
            properties[name] = attributes.merging(relationships) { first, _ in first }
        }
        entities = names
        successors = RenamingMatch.successors(names)
        self.properties = properties
    }
}

/// An entity or property that may have another name in another version of the model.
package struct Renameable {
    package let name: String
    /// The canonical name: its first one.
    package let identifier: String

    init(name: String, identifier: String) {
        self.name = name
        self.identifier = identifier
    }

    /// - Parameters:
    ///   - name: the name of the entity or property.
    ///   - identifier: the renaming identifier; nil for the name itself.
    package init(_ name: String, _ identifier: String?) { self.init(name: name, identifier: identifier ?? name) }
}

/// Finds the names of entities, or an entity's properties, of one version in the other.
package enum RenamingMatch {
    /// The names in the source, by the names in the destination.
    ///
    /// A renaming identifier is a canonical name, so that equal ones belong together, over any number of versions. Next
    /// come a destination that is identified by the source's present name, and equal names: removing an identifier
    /// again must not lose data.
    package static func sources(of destinations: [Renameable], in sources: [Renameable]) -> [String: String] {
        var found: [String: String] = [:]
        var open = Set(sources.map(\.name))
        func match(
            _ key: (Renameable) -> String, _ sourceKey: (Renameable) -> String,
            where isSame: (Renameable, Renameable) -> Bool = { _, _ in true }
        ) {
            let candidates = Dictionary(grouping: sources, by: sourceKey)
            for destination in destinations where found[destination.name] == nil {
                let source = candidates[key(destination)]?.first {
                    open.contains($0.name) && isSame(destination, $0)
                }
                guard let source else { continue }
                found[destination.name] = source.name
                open.remove(source.name)
            }
        }
        // An entity or property that was not renamed stays itself, even if another one has its identifier.
        match(\.name, \.name) { $0.identifier == $1.identifier }
        match(\.identifier, \.identifier)
        match(\.identifier, \.name)
        match(\.name, \.name)
        return found
    }

    /// The names in the destination, by the names in the source. Each has one at most.
    static func successors(_ sources: [String: String]) -> [String: String] {
        Dictionary(sources.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The same for attributes, and for elements of a composite attribute: several may take the values of one, if the
    /// identifier of each says so.
    package static func attributeSources(
        of destinations: [Renameable], in sources: [Renameable]
    ) -> [String: String] {
        var found = self.sources(of: destinations, in: sources)
        let open = destinations.filter { found[$0.name] == nil && $0.identifier != $0.name }
        guard !open.isEmpty else { return found }
        func names(_ key: (Renameable) -> String) -> [String: String] {
            Dictionary(sources.map { (key($0), $0.name) }, uniquingKeysWith: { first, _ in first })
        }
        let (byIdentifier, byName) = (names(\.identifier), names(\.name))
        for destination in open {
            found[destination.name] = byIdentifier[destination.identifier] ?? byName[destination.identifier]
        }
        return found
    }
}

extension AttributeLayout {
    /// The names that the elements of a composite attribute had in another version of it, by their present names.
    package func elementSources(in former: AttributeLayout) -> [String: String] {
        RenamingMatch.attributeSources(
            of: elements.map(\.description.renameable), in: former.elements.map(\.description.renameable))
    }
}
