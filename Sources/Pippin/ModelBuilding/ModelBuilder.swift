import CompactCollections
import StoreSession

/// Makes Core Data's model from derived entities.
enum ModelBuilder {
    /// The model made last for each list of structs. A model that is in use stays until the process ends, so without
    /// this cache a program that opens one store after the other, as a server with a store per customer does, would
    /// keep a model for each.
    private static let latest = Locked<[[ObjectIdentifier]: NSManagedObjectModel]>([:])

    /// The model of the entities. One that was made before is used again if its structs and schemas are the same.
    ///
    /// - Throws: ``PersistenceError/Code/notDerivable``
    static func model(of registry: ModelRegistry) throws -> NSManagedObjectModel {
        let new = try description(of: registry)
        let structs = registry.plans.map(\.id)
        if let known = latest.withLock({ $0[structs] }), known == new { return known }
        do { _ = try new.compiledLayout() } catch {
            throw PersistenceError.notDerivable(
                type: registry.plans.map(\.record.name).joined(separator: ", "), property: "",
                reason: error.localizedDescription)
        }
        latest.withLock { $0[structs] = new }
        return new
    }

    private static func description(of registry: ModelRegistry) throws -> NSManagedObjectModel {
        var entities: [String: NSEntityDescription] = [:]
        var relationships: [String: [NSRelationshipDescription]] = [:]
        for plan in registry.plans { entities[plan.name] = entity(plan) }
        for (one, two) in try RelationshipPairs.pairs(of: registry) {
            // A relationship may be its own inverse, as between friends.
            let isOne = one.entity == two.entity && one.name == two.name
            let first = relationship(one, entities)
            let second = isOne ? first : relationship(two, entities)
            first.inverseRelationship = second
            second.inverseRelationship = first
            relationships[one.entity, default: []].append(first)
            if !isOne { relationships[two.entity, default: []].append(second) }
        }
        for plan in registry.plans {
            guard let entity = entities[plan.name] else { continue }
            let attributes = try plan.fields.compactMap { try AttributeBuilder(plan).attribute($0) }
            entity.properties = attributes + (relationships[plan.name] ?? [])
            restrict(entity, by: plan)
        }
        let model = NSManagedObjectModel()
        model.entities = registry.plans.compactMap { entities[$0.name] }
        return model
    }

    private static func entity(_ plan: EntityPlan) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = plan.name
        for fact in plan.facts {
            switch fact {
            case .entityRenamed(let former): entity.renamingIdentifier = former
            case .entityUserInfo(let userInfo): entity.userInfo?.merge(userInfo) { _, latest in latest }
            default: break
            }
        }
        return entity
    }

    private static func relationship(
        _ plan: RelationshipPlan, _ entities: [String: NSEntityDescription]
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = plan.name
        relationship.take(formerName: plan.formerName)
        relationship.destinationEntity = entities[plan.destination]
        relationship.maxCount = plan.isToMany ? 0 : 1
        relationship.isOrdered = plan.isOrdered
        relationship.isOptional = plan.isOptional
        relationship.deleteRule = plan.isOwner ? .cascadeDeleteRule : .nullifyDeleteRule
        return relationship
    }

    private static func restrict(_ entity: NSEntityDescription, by plan: EntityPlan) {
        var constraints = [[plan.uidKey]]
        var indexes: [NSFetchIndexDescription] = []
        for fact in plan.facts {
            switch fact {
            case .unique(let properties, _):
                let names = properties.compactMap(\.path)
                if !constraints.contains(names) { constraints.append(names) }
            case .index(let properties):
                let names = properties.compactMap(\.path)
                let name = "by" + names.map(\.capitalizedFirst).joined()
                // An index that is declared twice is one index.
                guard !indexes.contains(where: { $0.name == name }) else { continue }
                let elements = names.compactMap { indexed($0, in: entity, by: plan) }.map {
                    NSFetchIndexElementDescription(property: $0, collationType: .binary)
                }
                indexes.append(NSFetchIndexDescription(name: name, elements: elements))
            case .renamed(let property, let former):
                if let path = property.path { entity.relationshipsByName[path]?.renamingIdentifier = former }
            case .userInfo(let property, let userInfo):
                if let path = property.path { entity.relationshipsByName[path]?.add(userInfo) }
            default: break
            }
        }
        entity.uniquenessConstraints = constraints
        entity.indexes = indexes
    }

    /// What an index has of a property: the property, or an expression that leads to one of a nested struct.
    private static func indexed(
        _ path: String, in entity: NSEntityDescription, by plan: EntityPlan
    ) -> NSPropertyDescription? {
        if let property = entity.propertiesByName[path] { return property }
        guard let names = plan.record.storedNames(of: path.split(separator: ".").map(String.init)[...]) else {
            return nil
        }
        let expression = NSExpressionDescription()
        expression.name = path
        expression.expression = NSExpression(forKeyPath: names.joined(separator: "."))
        return expression
    }
}

extension RecordPlan {
    /// The names in a store of the properties on a path through nested values; nil for a path that leads elsewhere.
    fileprivate func storedNames(of path: ArraySlice<String>) -> [String]? {
        guard let name = path.first, let field = fields.first(where: { $0.property == name && $0.mark == nil }) else {
            return nil
        }
        let rest = path.dropFirst()
        if rest.isEmpty { return [field.name] }
        guard case .composite(let inner) = field.kind else { return nil }
        return inner.storedNames(of: rest).map { [field.name] + $0 }
    }
}

extension String {
    fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
