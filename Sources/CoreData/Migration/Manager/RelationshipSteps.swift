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
