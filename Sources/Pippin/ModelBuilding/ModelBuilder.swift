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
            try markRelatedTexts(of: entity, by: plan, registry)
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

    /// Marks relationships to models whose texts are searched as the entity's own.
    private static func markRelatedTexts(
        of entity: NSEntityDescription, by plan: EntityPlan, _ registry: ModelRegistry
    ) throws {
        for case .searched(let property, var info) in plan.facts {
            let path = property.path?.split(separator: ".").map(String.init) ?? []
            guard let field = plan.fields.first(where: { $0.property == path.first && $0.mark == nil }),
                let model = field.related
            else { continue }
            guard let names = try registry.plan(of: model.type).record.storedNames(of: path.dropFirst()) else {
                throw SchemaCheck.refusal(
                    plan, property.spelling,
                    "only texts of the model itself and of those that it is directly related with are searched.")
            }
            info[SearchInfo.weight(of: names)] = info.removeValue(forKey: SearchInfo.weight)
            entity.relationshipsByName[field.name]?.add(info)
        }
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

/// Makes Core Data's attributes from a model's fields.
struct AttributeBuilder {
    private let plan: EntityPlan
    /// Within a nested value, the properties that lead to the value whose attributes are made.
    private var path: [String] = []

    init(_ plan: EntityPlan) { self.plan = plan }

    /// The attribute of a field; nil for a relationship.
    func attribute(_ field: FieldPlan) throws -> NSAttributeDescription? {
        let attribute: NSAttributeDescription
        switch field.kind {
        case .attribute(let kind):
            attribute = NSAttributeDescription()
            attribute.attributeType = kind.type
        case .json:
            attribute = NSAttributeDescription()
            attribute.attributeType = .binaryDataAttributeType
            attribute.userInfo?[NestedValueInfo.coding] = NestedValueInfo.json
            if let empty = field.emptyValue, !field.isOptional { attribute.defaultValue = empty }
        case .composite(let record):
            let composite = NSCompositeAttributeDescription()
            var inner = self
            inner.path.append(field.property)
            composite.elements = try record.fields.compactMap { try inner.attribute($0) }
            composite.userInfo?[NestedValueInfo.presence] =
                field.isOptional ? NestedValueInfo.sometimes : NestedValueInfo.always
            attribute = composite
        case .toOne, .toMany:
            return nil
        }
        attribute.name = field.name
        if field.key != field.name, !path.isEmpty { attribute.userInfo?[NestedValueInfo.key] = field.key }
        if case .hasList(let list)? = field.mark { mark(plan.fields[list].name, by: attribute) }
        if field.mark == .isPresent { attribute.userInfo?[NestedValueInfo.isMark] = NestedValueInfo.always }
        // Without the composite, its elements have no values either.
        if case .composite = field.kind { attribute.isOptional = true } else { attribute.isOptional = field.isOptional }
        attribute.take(formerName: field.formerName)
        if case .composite = field.kind, field.isOptional { attribute.noteOptionalValue() }
        try apply(plan.facts, to: attribute, field)
        return attribute
    }

    /// The mark of a list is renamed with it. Stores of earlier builds have one that says that the list is empty, from
    /// which it is taken over; a list with members is there without a mark.
    private func mark(_ list: String, by attribute: NSAttributeDescription) {
        attribute.userInfo?[NestedValueInfo.markedList] = list
        let earlier = "\(list)IsEmpty"
        if !plan.fields.contains(where: { $0.name == earlier }) { attribute.renamingIdentifier = earlier }
        for case .renamed(let property, let former) in plan.facts where property.path == list {
            attribute.renamingIdentifier = FieldPlan.listMark(of: former)
        }
    }

    private func apply(_ facts: [SchemaFact], to attribute: NSAttributeDescription, _ field: FieldPlan) throws {
        guard field.mark == nil else { return }
        let name = (path + [field.property]).joined(separator: ".")
        for fact in facts {
            switch fact {
            case .defaultValue(let property, let value) where property.path == name:
                do { try Self.set(value, in: attribute, field) } catch {
                    throw SchemaCheck.refusal(
                        plan, name, "it cannot have that default value. \(error.encodingReason)")
                }
            case .renamed(let property, let former) where property.path == name:
                attribute.renamingIdentifier = former
            case .userInfo(let property, let userInfo) where property.path == name,
                .searched(let property, let userInfo) where property.path == name:
                attribute.add(userInfo)
            default: break
            }
        }
    }

    /// Sets a default value. A nested value's default is set on its elements.
    private static func set(
        _ value: any Encodable, in attribute: NSAttributeDescription, _ field: FieldPlan
    ) throws {
        // The default of an optional property may be nil.
        let value = (value as? any OptionalValue).map(\.wrappedValue) ?? value
        guard let value else { return }
        let encoder = RecordEncoder(RecordPlan(name: field.name, fields: [field]))
        try encoder.set(value, at: 0)
        try set(encoder.values[0], in: attribute, field)
    }

    private static func set(
        _ value: StoredValue, in attribute: NSAttributeDescription, _ field: FieldPlan
    ) throws {
        switch field.kind {
        case .attribute(let kind): attribute.defaultValue = value.attributeValue(kind)
        case .json: attribute.defaultValue = value.attributeValue(.data)
        case .composite(let record):
            guard case .object(let object) = value, let composite = object as? CompositeValue,
                let elements = (attribute as? NSCompositeAttributeDescription)?.elements
            else { return }
            if field.isOptional { attribute.userInfo?[NestedValueInfo.presence] = NestedValueInfo.initially }
            for (field, value) in zip(record.fields, record.values(of: composite)) {
                guard let value, let element = elements.first(where: { $0.name == field.name }) else { continue }
                try set(value, in: element, field)
            }
        case .toOne, .toMany: break
        }
    }
}

extension NSPropertyDescription {
    /// Keeps the values of a store of an earlier build if two properties have exchanged their names. The modifier
    /// distinguishes such a store from a present one.
    func take(formerName: String?) {
        guard let formerName else { return }
        renamingIdentifier = formerName
        versionHashModifier = "property"
    }

    /// Gives an optional nested value another version than a required one, since its composite attribute is optional in
    /// either case: a store whose objects need not have the value must be migrated when they must.
    func noteOptionalValue() {
        versionHashModifier = [versionHashModifier, "optional"].compactMap(\.self).joined(separator: " ")
    }

    /// Adds the schema's user info. Keys that exist already are Pippin's own, which it needs to read the property.
    func add(_ userInfo: [String: String]) { self.userInfo?.merge(userInfo) { own, _ in own } }
}

/// Keys and values in the user info of derived models' attributes, for nested values. User info is not part of a
/// version, and lets migration, which knows nothing of structs, handle them. `CoreData` reads it by the same names.
enum NestedValueInfo {
    /// How a binary attribute's bytes are to be read, such as `json`.
    static let coding = "PippinCoding"
    static let json = "JSON"
    /// Whether each object has the nested value of a composite attribute: `always`, `sometimes`, or `initially` if only
    /// the objects older than the attribute have it, with its default value.
    static let presence = "PippinPresence"
    static let always = "always"
    static let sometimes = "sometimes"
    static let initially = "initially"
    /// The coding key of an element whose name differs from it.
    static let key = "PippinKey"
    /// Set on the element that marks the nested value as present.
    static let isMark = "PippinMark"
    /// The list of models that an attribute marks as present.
    static let markedList = "PippinMarkedList"
}
