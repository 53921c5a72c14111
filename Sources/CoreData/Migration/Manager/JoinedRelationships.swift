import Foundation

/// The relationships of a destination whose pairs are not just those of one source relationship and its inverse: one
/// with a new inverse, one that several relationships became, and one that became its own inverse.
///
/// As in SQL, such a relationship has the pairs of all of them: what one side says is not undone by the other one. An
/// object that has room for one other, and would have several, stops the migration.
final class JoinedRelationships {
    // Confined to the migration's thread.
    private let joined: Set<ObjectIdentifier>
    /// For each relationship, the object to which another one leads; for one without inverse, the object that leads to
    /// another one.
    private var taken: [ObjectIdentifier: [NSManagedObjectID: NSManagedObjectID]] = [:]

    /// - Parameters:
    ///   - mappings: the mappings, of which those count that ask for what a relationship's objects became.
    ///   - source: the source's entities, by name.
    ///   - destination: the destination's entities, by name.
    init(_ mappings: [NSEntityMapping], from source: [String: EntityLayout], to destination: [String: EntityLayout]) {
        var formers: [ObjectIdentifier: Formers] = [:]
        for mapping in mappings {
            guard let old = mapping.sourceEntityName.flatMap({ source[$0] }),
                let new = mapping.destinationEntityName.flatMap({ destination[$0] })
            else { continue }
            for property in mapping.relationshipMappings ?? [] {
                guard case (let key, .anyMapping)? = RelationshipSteps.source(of: property),
                    let former = old.relationship(named: key),
                    let relationship = property.name.flatMap({ new.relationship(named: $0) })
                else { continue }
                formers[ObjectIdentifier(relationship), default: Formers(relationship: relationship)].add(former)
            }
        }
        joined = Set(formers.filter { $0.value.areJoined(in: formers) }.keys)
    }

    /// The source relationships that became one of the destination.
    private struct Formers {
        let relationship: RelationshipLayout
        private(set) var all: [RelationshipLayout] = []

        init(relationship: RelationshipLayout) { self.relationship = relationship }

        mutating func add(_ former: RelationshipLayout) {
            if !all.contains(where: { $0 === former }) { all.append(former) }
        }

        func areJoined(in formers: [ObjectIdentifier: Formers]) -> Bool {
            guard let inverse = relationship.inverse else {
                // Without inverse, an object of a to-many relationship has one owner.
                guard relationship.isToMany else { return false }
                return all.count > 1 || all.contains { !$0.isToMany || $0.inverse?.isToMany ?? false }
            }
            let others = formers[ObjectIdentifier(inverse)]?.all ?? []
            return !Self.lead(all, to: others) || !Self.lead(others, to: all)
        }

        private static func lead(_ side: [RelationshipLayout], to other: [RelationshipLayout]) -> Bool {
            side.allSatisfy { former in other.contains { $0 === former.inverse } }
        }
    }

    var isEmpty: Bool { joined.isEmpty }

    func contains(_ relationship: RelationshipLayout) -> Bool { joined.contains(ObjectIdentifier(relationship)) }

    /// Notes that a relationship of the set leads from an object to others.
    ///
    /// - Returns: an object that several lead to now, and that has room for one; nil if there is none.
    func note(
        _ relationship: RelationshipLayout, from object: NSManagedObject, to others: [NSManagedObject]
    ) -> SharedObject? {
        let (inverse, isToMany) = (relationship.inverse, relationship.isToMany)
        for other in others {
            var isFree = true
            if let inverse, !inverse.isToMany { isFree = take(inverse, other, object) }
            if inverse == nil, isToMany { isFree = take(relationship, other, object) }
            if !isFree { return SharedObject(relationship: inverse ?? relationship, object: other) }
            if inverse != nil, !isToMany, !take(relationship, object, other) {
                return SharedObject(relationship: relationship, object: object)
            }
        }
        return nil
    }

    /// Notes the one object to which a relationship leads from another; says whether it led to no other before.
    private func take(_ relationship: RelationshipLayout, _ holder: NSManagedObject, _ other: NSManagedObject) -> Bool {
        let former = taken[ObjectIdentifier(relationship), default: [:]].updateValue(
            other.objectID, forKey: holder.objectID)
        return former.map { $0 == other.objectID } ?? true
    }

    /// An object of the destination that would have several others where it has room for one.
    struct SharedObject {
        let relationship: RelationshipLayout
        let object: NSManagedObject
    }
}

extension MigrationRun {
    /// The objects that a relationship leads to if it is joined with those that are there already.
    ///
    /// - Parameters:
    ///   - partners: the objects that the source relationship's objects became.
    ///   - name: the relationship.
    ///   - object: the destination object.
    /// - Returns: the objects; nil if nothing is to be changed.
    /// - Throws: 134110 for an object that would have several others, and has room for one.
    func joining(
        _ partners: [NSManagedObject], _ name: String, of object: NSManagedObject
    ) throws -> [NSManagedObject]? {
        guard !joined.isEmpty, let relationship = object.layout.relationship(named: name),
            joined.contains(relationship)
        else { return partners }
        let partners = relationship.isToMany ? partners : Array(partners.prefix(1))
        if let shared = joined.note(relationship, from: object, to: partners) { throw violation(shared) }
        guard relationship.isToMany, !partners.isEmpty else { return partners.isEmpty ? nil : partners }
        let known = Set(partners.map(ObjectIdentifier.init))
        let others = NSMigrationManager.objects(in: object.value(forKey: name)) ?? []
        return partners + others.filter { !known.contains(ObjectIdentifier($0)) }
    }

    /// Checks that a to-one relationship gets one object of a to-many relationship. Which of several stays would depend
    /// on the order of a set. One object that became several is another matter: the first one stays.
    ///
    /// - Throws: 134110 if there are several.
    func checkRoom(
        for partners: [NSManagedObject], _ name: String, of object: NSManagedObject, from source: NSManagedObject,
        _ former: RelationshipLayout
    ) throws {
        guard partners.count > 1, former.isToMany, let relationship = object.layout.relationship(named: name),
            !relationship.isToMany, try targets(of: source, former).count > 1
        else { return }
        throw violation(JoinedRelationships.SharedObject(relationship: relationship, object: object))
    }

    private func violation(_ shared: JoinedRelationships.SharedObject) -> NSError {
        let violation = MigrationViolation(
            entity: shared.relationship.source.name, property: shared.relationship.name, isRelationship: true,
            reason: MigrationViolation.severalOwners)
        // The object is named by its key in the store that remains.
        let sources = entityMappings.lazy.flatMap {
            self.associations.sources(mapping: $0.name ?? "", of: [shared.object])
        }
        let error = MigrationError.violation(violation, key: sources.first?.identifier.key)
        return NSError(
            domain: error.domain, code: error.code,
            userInfo: error.userInfo.merging(
                [NSLocalizedRecoverySuggestionErrorKey: MigrationError.advice(violation)]) { $1 })
    }
}

/// The way an entity mapping sets the relationships of destination objects, computed once for all objects of the two
/// entities.
///
/// Most relationships lead to the destination objects of a source relationship's objects. These are found by their
/// keys, for a portion of objects at once.
struct RelationshipSteps {
    enum Step {
        case partners(of: RelationshipLayout, by: Successors, NSPropertyMapping)
        case evaluate(NSPropertyMapping)
    }

    /// The entity mappings that determine the destination objects of an object.
    enum Successors {
        case mapping(String)
        case anyMapping
    }

    let steps: [Step]

    init(_ mappings: [NSPropertyMapping], from source: EntityLayout) {
        steps = mappings.map { mapping in
            guard let (key, successors) = Self.source(of: mapping),
                let relationship = source.relationship(named: key)
            else { return .evaluate(mapping) }
            return .partners(of: relationship, by: successors, mapping)
        }
    }

    /// The key of the source relationship to whose objects' destinations a mapping leads; nil for any other expression.
    static func source(of mapping: NSPropertyMapping) -> (key: String, successors: Successors)? {
        guard let expression = mapping.valueExpression,
            case .call(.variable(NSMigrationManagerKey), let function, let arguments) = expressionTree(of: expression),
            arguments.count == 2, case .constant(.string(let name)) = arguments[0],
            let key = MigrationExpression.sourceKey(arguments[1])
        else { return nil }
        switch function {
        case MigrationFunction.destinationsOfMapping: return (key, .mapping(name))
        case MigrationFunction.destinationsOfRelationship: return (key, .anyMapping)
        default: return nil
        }
    }

    /// Whether an expression asks for what objects became by any entity mapping of theirs.
    static func takesAnyMapping(_ expression: ExpressionTree) -> Bool {
        guard case .call(.variable(NSMigrationManagerKey), let function, _) = expression else { return false }
        return function == MigrationFunction.destinationsOfRelationship
    }
}

// Finds the destination objects for relationships of the source.
extension MigrationRun {
    /// The names of the entity mappings that may determine the destination objects of an object.
    private func names(_ successors: RelationshipSteps.Successors, of entity: EntityLayout) -> [String] {
        switch successors {
        case .mapping(let name): return [name]
        case .anyMapping: return mappingNames(taking: entity)
        }
    }

    /// The destination objects for a source object's relationship. The source objects at its other end are not loaded.
    func partners(
        of source: NSManagedObject, _ relationship: RelationshipLayout, _ successors: RelationshipSteps.Successors
    ) throws -> [NSManagedObject] {
        try targets(of: source, relationship).flatMap { target in
            let object = self.source.table.object(for: target)
            return names(successors, of: target.layout).flatMap {
                associations.destinations(mapping: $0, of: target, object)
            }
        }
    }

    func targets(
        of source: NSManagedObject, _ relationship: RelationshipLayout
    ) throws -> [NSManagedObjectID] {
        if source.isFault { source.fireFault() }
        if relationship.isToMany {
            if let members = source.toManyMembersIfAny(relationship), members.isLoaded {
                return members.all.map(\.identifier)
            }
            return try self.source.source?.destinations(of: relationship, for: source.identifier) ?? []
        }
        guard case .identifier(let target) = source.values[relationship.slot] else { return [] }
        return [target]
    }

    /// Loads the destination objects for to-one relationships, since connecting an object changes its partner, too.
    ///
    /// - Returns: the partners, which the caller keeps until the objects are connected.
    func loadPartners(of sources: [NSManagedObject], _ steps: RelationshipSteps) throws -> [NSManagedObject] {
        var identifiers: Set<NSManagedObjectID> = []
        for case .partners(let relationship, let successors, _) in steps.steps where !relationship.isToMany {
            for source in sources {
                for target in try targets(of: source, relationship) {
                    for name in names(successors, of: target.layout) {
                        identifiers.formUnion(associations.identifiers(mapping: name, of: target))
                    }
                }
            }
        }
        return try destination.loadedObjects(identifiers.sorted { $0.key < $1.key })
    }

    /// Loads the objects that a to-many relationship of an object does not contain yet.
    ///
    /// - Returns: the objects, which the caller keeps until the relationship is set.
    func loadStrangers(
        among partners: [NSManagedObject], for object: NSManagedObject, _ relationship: String
    ) throws -> [NSManagedObject] {
        guard partners.count > 1, let relationship = object.layout.relationship(named: relationship),
            relationship.isToMany
        else { return [] }
        let members = object.loadedToManyMembers(relationship)
        let strangers = partners.filter { $0.isFault && !members.contains($0) }
        return try destination.loadedObjects(strangers.map(\.identifier))
    }
}
