import CompactCollections
import StoreSession

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
            case .userInfo(let property, let userInfo) where property.path == name:
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
