import CodeGeneration
import CoreData
import StoreReading

/// What is likely to be a mistake in a model that can be read and used. Pure.
enum ModelWarnings {
    static func warnings(of document: ModelDocument) -> [String] {
        document.entities.sorted { $0.name < $1.name }.flatMap { entity in
            (entity.name.first?.isUppercase == true
                ? [] : ["\(TextTools.inOneLine(entity.name)): names of entities begin with a capital letter"])
                + unenforced(entity)
                + entity.properties.sorted { $0.name < $1.name }.flatMap { property in
                    (warnings(of: property) + astray(property, in: document)).map {
                        "\(TextTools.inOneLine(entity.name)).\(TextTools.inOneLine(property.name)): \($0)"
                    }
                }
        }
    }

    /// The uniqueness constraints that no store enforces: it has no column for one of their values, or the column of an
    /// element of a composite attribute, for which it makes no index.
    private static func unenforced(_ entity: EntityDocument) -> [String] {
        let columnless = entity.properties.filter { property in
            if case .relationship(let relationship) = property.kind, relationship.isToMany { return true }
            return property.isTransient
        }
        .map(\.name)
        return entity.uniquenessConstraints.compactMap { names in
            let reason: String
            if let name = names.first(where: columnless.contains) {
                reason = "it keeps no value of “\(TextTools.inOneLine(name))”"
            } else if let name = names.first(where: { $0.contains(".") && entity.property(named: $0) == nil }) {
                reason = "“\(TextTools.inOneLine(name))” is an element of a composite attribute"
            } else {
                return nil
            }
            let constraint = names.map(TextTools.inOneLine).joined(separator: ", ")
            return
                "\(TextTools.inOneLine(entity.name)): no store enforces the uniqueness constraint “\(constraint)”, since \(reason)"
        }
    }

    /// An inverse that is the inverse of another relationship.
    private static func astray(_ property: PropertyDocument, in document: ModelDocument) -> [String] {
        guard let relationship = property.relationship, let name = relationship.inverseName else { return [] }
        var owner = relationship.destinationName.flatMap { document.entity(named: $0) }
        while let entity = owner {
            if let back = entity.property(named: name)?.relationship?.inverseName, back != property.name {
                return [
                    "its inverse “\(TextTools.inOneLine(name))” leads back to “\(TextTools.inOneLine(back))” instead of it, "
                        + "so nothing keeps its other end up to date"
                ]
            }
            owner = entity.parentName.flatMap { document.entity(named: $0) }
        }
        return []
    }

    private static func warnings(of property: PropertyDocument) -> [String] {
        var warnings: [String] = []
        if property.name.first?.isLowercase != true, property.name.first != "_" {
            warnings.append("names of properties begin with a small letter")
        }
        if reservedNames.contains(property.name) {
            warnings.append("every managed object has a property of this name already")
        }
        switch property.kind {
        case .attribute(let attribute): warnings += self.warnings(of: attribute)
        case .relationship(let relationship): warnings += self.warnings(of: relationship, property)
        case .fetched(let request):
            if request == nil { warnings.append("the fetched property has no fetch request") }
        }
        return warnings
    }

    private static func warnings(of attribute: AttributeDocument) -> [String] {
        var warnings: [String] = []
        if attribute.type == .transformableAttributeType, attribute.valueTransformerName == nil {
            warnings.append("without a transformer, values of any class are archived and made again")
        }
        if attribute.derivation == .unknown { warnings.append("the derived attribute has no expression") }
        if attribute.allowsExternalStorage, attribute.type != .binaryDataAttributeType,
            attribute.type != .transformableAttributeType
        {
            warnings.append("only data are stored outside the store")
        }
        return warnings
    }

    private static func warnings(of relationship: RelationshipDocument, _ property: PropertyDocument) -> [String] {
        var warnings: [String] = []
        if relationship.inverseName == nil {
            warnings.append("the relationship has no inverse, so nothing keeps its other end up to date")
        }
        if relationship.deleteRule == .noActionDeleteRule {
            warnings.append("the delete rule “No Action” leaves the other end leading to a deleted object")
        }
        if relationship.isOrdered, !relationship.isToMany {
            warnings.append("a to-one relationship has no order")
        }
        if !property.isOptional, relationship.inverseName != nil, relationship.deleteRule == .denyDeleteRule {
            warnings.append("a mandatory relationship that denies deletion keeps its objects for ever")
        }
        return warnings
    }

    /// The names of properties, and those that mean something else in a key path.
    private static let reservedNames = ReservedNames.properties.union(["changedValues", "self"])
}
