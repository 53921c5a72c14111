import CoreData

/// Changes as the attributes and relationships of an entity take them.
struct PreparedChanges: @unchecked Sendable {
    // @unchecked Sendable: the values do not change once they are made.

    /// Values of attributes; `nil` for no value.
    private var attributes: [(name: String, value: Any?)] = []
    /// The models that to-one relationships shall lead to, by their keys; `nil` for none.
    private var links: [(field: FieldPlan, plan: EntityPlan, key: Any?)] = []
    private let plan: EntityPlan

    /// - Throws: ``PersistenceError/Code/notSettable``, and ``PersistenceError/Code/unwritable`` for a value that no
    ///   store keeps.
    init<Model>(_ changes: ModelChanges<Model>, _ plan: EntityPlan, _ registry: ModelRegistry) throws {
        self.plan = plan
        for (property, value) in changes.settings {
            guard let name = property.path, let index = plan.fields.firstIndex(where: { $0.name == name }) else {
                if property.path?.contains(".") ?? false {
                    throw PersistenceError.notSettable(
                        property.spelling, entity: plan.name,
                        reason: "it lies within a value. Set the value as a whole.")
                }
                throw PersistenceError.unknownProperty(
                    property.spelling, entity: plan.name, known: plan.propertyNames)
            }
            guard index != plan.uidField else {
                throw PersistenceError.notSettable(
                    property.spelling, entity: plan.name, reason: "it is the identifier.")
            }
            try add(plan.fields[index], value, registry)
        }
    }

    private mutating func add(_ field: FieldPlan, _ value: any Encodable, _ registry: ModelRegistry) throws {
        let value: (any Encodable)? =
            if let optional = value as? any OptionalValue { optional.wrappedValue } else { value }
        switch field.kind {
        case .toMany:
            throw PersistenceError.notSettable(
                field.name, entity: plan.name, reason: "it is a list of models. Fetch, change and save these models.")
        case .toOne(let related):
            links.append((field, try registry.plan(related), try value.map { try Self.key(of: $0) }))
        case .attribute, .json, .composite:
            let encoder = RecordEncoder(RecordPlan(name: plan.name, fields: [field]))
            if let value {
                do { try encoder.set(value, at: 0) } catch {
                    throw PersistenceError.unwritable(
                        filteredEntity: plan.name, key: field.name, reason: error.encodingReason)
                }
            }
            attributes.append((field.name, Self.attributeValue(encoder.values[0], field)))
        }
    }

    private static func key(of value: any Encodable) throws -> Any {
        if let reference = value as? any ModelReference { return try reference.keyValue() }
        if let model = value as? any CoreModel { return try model.keyValue() }
        return value
    }

    private static func attributeValue(_ value: StoredValue, _ field: FieldPlan) -> Any? {
        switch field.kind {
        case .attribute(let kind): value.attributeValue(kind)
        case .composite: value.composite?.elements
        default: value.attributeValue(.data)
        }
    }

    /// The values for a batch update; nil if a relationship or nested value is set, or a property of a uniqueness rule
    /// that says which model to keep.
    var batch: [String: Any]? {
        for case .unique(let properties, _?) in plan.facts
        where attributes.contains(where: { properties.compactMap(\.path).contains($0.name) }) { return nil }
        guard links.isEmpty, !attributes.isEmpty, !attributes.contains(where: { $0.value is [String: Any] }) else {
            return nil
        }
        return Dictionary(
            attributes.map {
                ($0.name, $0.value.map { NSExpression(forConstantValue: $0) } ?? NSExpression(forConstantValue: nil))
            },
            uniquingKeysWith: { $1 })
    }

    /// Sets the values, on the queue of the context.
    func apply(to objects: [NSManagedObject], in context: NSManagedObjectContext) throws {
        var destinations: [(name: String, object: NSManagedObject?, isOwned: Bool)] = []
        for (field, destination, key) in links {
            guard let key else {
                destinations.append((field.name, nil, plan.owns(field)))
                continue
            }
            // A save refuses several owners of one model, too.
            if plan.ownsAlone(field), objects.count > 1 {
                throw PersistenceError.unwritable(
                    filteredEntity: plan.name, key: field.name,
                    reason:
                        "the filter selects \(objects.count), and the \(destination.name) '\(key)' belongs to one only. Select one, or take the rule "
                        + "off: what is shared may be in many.")
            }
            guard let object = try destination.objects(keys: [key], in: context).values.first else {
                throw PersistenceError.missingReference(entity: plan.name, key: field.name, uid: "\(key)")
            }
            destinations.append((field.name, object, plan.owns(field)))
        }
        var left: [NSManagedObject] = []
        for object in objects {
            for (name, value) in attributes { object.setValue(value, forKey: name) }
            for (name, destination, isOwned) in destinations {
                let former = isOwned ? object.value(forKey: name) as? NSManagedObject : nil
                object.setValue(destination, forKey: name)
                if let former, former !== destination { left.append(former) }
            }
        }
        // A model that is owned is deleted when it leaves its owner, as it is when the owner is saved, unless it has a
        // new one.
        let kept = destinations.compactMap(\.object)
        context.delete(left, keeping: Set(kept), owned: kept)
    }
}
