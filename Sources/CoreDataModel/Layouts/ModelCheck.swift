import Foundation

/// Checks that a model is complete before it is used: names, inheritance, destinations and inverses.
package enum ModelCheck {
    /// - Throws: an `NSError` in the Cocoa domain that names the entity and the property that are wrong.
    package static func check(_ model: NSManagedObjectModel) throws {
        var names = Set<String>()
        for entity in model.entities {
            guard let name = entity.name, !name.isEmpty else {
                throw error("an entity has no name; every entity needs one")
            }
            try refuseNUL(in: name)
            guard names.insert(name).inserted else {
                throw error("there are two entities named “\(name)”; names must be unique")
            }
        }
        for entity in model.entities {
            try checkInheritance(of: entity, in: model)
            try checkProperties(of: entity, in: model)
            try checkConstraints(of: entity)
        }
    }

    /// Refuses a NUL, which ends a text in C: databases truncate a name there, or refuse it.
    private static func refuseNUL(in name: String, ofPropertyOf entity: String? = nil) throws {
        guard name.utf8.contains(0) else { return }
        let shown = "“\(name.replacing("\0", with: "\\0"))”"
        let place = entity.map { "property \(shown) of entity “\($0)”" } ?? "entity \(shown)"
        throw error("\(place) has a NUL character in its name")
    }

    private static func checkInheritance(of entity: NSEntityDescription, in model: NSManagedObjectModel) throws {
        let name = entity.name ?? ""
        var seen: Set<ObjectIdentifier> = []
        var ancestor: NSEntityDescription? = entity
        while let current = ancestor {
            guard seen.insert(ObjectIdentifier(current)).inserted else {
                throw error("entity “\(name)” inherits from itself")
            }
            guard current.model === model else {
                throw error(
                    "entity “\(name)” inherits from “\(current.name ?? "")”, which is not in the model; add it to the "
                        + "model's entities")
            }
            ancestor = current.superentity
        }
        for child in entity.subentities where child.model !== model {
            throw error(
                "entity “\(child.name ?? "")”, a subentity of “\(name)”, is not in the model; add it to the model's "
                    + "entities")
        }
    }

    private static func checkProperties(of entity: NSEntityDescription, in model: NSManagedObjectModel) throws {
        let name = entity.name ?? ""
        var names = Set(entity.superentity?.properties.map(\.name) ?? [])
        for property in entity.ownProperties {
            guard !property.name.isEmpty else { throw error("a property of entity “\(name)” has no name") }
            try refuseNUL(in: property.name, ofPropertyOf: name)
            guard names.insert(property.name).inserted else {
                throw error("entity “\(name)” has two properties named “\(property.name)”, its own or inherited")
            }
            if let attribute = property as? NSAttributeDescription,
                attribute.attributeType == .undefinedAttributeType, !attribute.isTransient
            {
                throw error("attribute “\(name).\(property.name)” has no type; only transient attributes may have none")
            }
            guard let relationship = property as? NSRelationshipDescription else { continue }
            try check(relationship, of: name, in: model)
        }
    }

    private static func check(
        _ relationship: NSRelationshipDescription, of entity: String, in model: NSManagedObjectModel
    ) throws {
        let name = "\(entity).\(relationship.name)"
        guard let destination = relationship.destinationEntity else {
            throw error(
                "relationship “\(name)” leads to "
                    + (relationship.destinationName.map { "“\($0)”, which is not an entity of the model" }
                        ?? "no entity"))
        }
        guard destination.model === model || model.entitiesByName[destination.name ?? ""] != nil else {
            throw error("relationship “\(name)” leads to “\(destination.name ?? "")”, which is not in the model")
        }
        // A maximum below 1 means no maximum; programs write -1 as well as 0.
        guard relationship.minCount >= 0 else {
            throw error("relationship “\(name)” has a negative minimum count")
        }
        if let inverseName = relationship.inverseName, relationship.inverseRelationship == nil {
            throw error(
                "the inverse of relationship “\(name)”, “\(destination.name ?? "").\(inverseName)”, does not exist")
        }
    }

    private static func checkConstraints(of entity: NSEntityDescription) throws {
        let known = entity.propertiesByName
        for constraint in entity.uniquenessConstraintNames {
            for key in constraint where known[key] == nil && !isElement(key, of: known) {
                throw error(
                    "a uniqueness constraint of entity “\(entity.name ?? "")” names “\(key)”, which is not one of its "
                        + "properties: \(known.keys.sorted().joined(separator: ", "))")
            }
        }
    }

    /// Whether a key path leads to an element of a composite attribute. A model of Apple's may have a constraint on
    /// one; no store here enforces it.
    private static func isElement(_ keyPath: String, of properties: [String: NSPropertyDescription]) -> Bool {
        let keys = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard keys.count > 1 else { return false }
        var property = properties[keys[0]]
        for key in keys.dropFirst() {
            property = (property as? NSCompositeAttributeDescription)?.elements.first { $0.name == key }
        }
        return property != nil
    }

    private static func error(_ description: String) -> NSError {
        NSError(
            domain: NSCocoaErrorDomain, code: CoreDataErrorCode.coreData,
            userInfo: [NSLocalizedDescriptionKey: "The model cannot be used: \(description)."])
    }
}

/// A model compiled for use: entities by number, properties by place. Immutable.
///
/// Its parts refer to each other, so a compiled model lives until the process ends.
package final class ModelLayout: Sendable {
    /// The entities in the order of their numbers: the roots by name, each followed by its descendants.
    package let entities: [EntityLayout]
    package let entityByName: [String: EntityLayout]

    /// Compiles a model that has been checked.
    ///
    /// - Throws: `NSManagedObjectModel.ModelError` if a name or a connection is missing or wrong.
    init(_ model: NSManagedObjectModel) throws {
        try ModelCheck.check(model)
        var layouts: [EntityLayout] = []
        func append(_ entity: NSEntityDescription, below parent: EntityLayout?) {
            let layout = EntityLayout(entity, number: layouts.count + 1, superentity: parent)
            let position = layouts.count
            layouts.append(layout)
            for child in entity.subentities.sorted(by: ModelLayout.byName) { append(child, below: layout) }
            layout.selfAndSubentities = Array(layouts[position...])
        }
        for root in model.entities.filter({ $0.superentity == nil }).sorted(by: ModelLayout.byName) {
            append(root, below: nil)
        }
        let byName = Dictionary(layouts.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for layout in layouts {
            let inherited = layout.superentity?.relationships.count ?? 0
            for relationship in layout.relationships[inherited...] {
                let name = relationship.description.destinationEntity?.name ?? ""
                guard let destination = byName[name] else { continue }  // ModelCheck refused it
                relationship.link(source: layout, destination: destination)
            }
        }
        for layout in layouts {
            for relationship in layout.relationships where relationship.inverse == nil {
                guard let inverse = relationship.description.inverseRelationship,
                    relationship.description.isLedBackTo(by: inverse)
                else { continue }
                relationship.inverse = relationship.destination.relationship(named: inverse.name)
            }
        }
        entities = layouts
        entityByName = byName
    }

    /// Core Data numbers entities without regard to case: in Apple's address book, ABCDUnknownProperty is 30 and
    /// ABCDURLAddress 31.
    private static func byName(_ left: NSEntityDescription, _ right: NSEntityDescription) -> Bool {
        let (first, second) = (left.name ?? "", right.name ?? "")
        let (foldedFirst, foldedSecond) = (first.lowercased(), second.lowercased())
        return foldedFirst == foldedSecond ? first < second : foldedFirst < foldedSecond
    }
}

extension NSRelationshipDescription {
    /// Whether an inverse that the model names is one. Models that apps were shipped with have two relationships with
    /// the same inverse: it is kept for the one that it leads back to, and the other has none.
    fileprivate func isLedBackTo(by inverse: NSRelationshipDescription) -> Bool {
        inverse.inverseRelationship.map { $0.name == name } ?? true
    }
}

extension NSManagedObjectModel {
    /// The compiled form. The first call checks and freezes the model.
    ///
    /// - Throws: an error that names the entity and the property that are wrong.
    package func compiledLayout() throws -> ModelLayout {
        lock.lock()
        defer { lock.unlock() }
        if let layout = compiled as? ModelLayout { return layout }
        let layout = try ModelLayout(self)
        for entity in layout.entities { entity.description.compiled = entity }
        freeze()
        compiled = layout
        return layout
    }
}

extension NSEntityDescription {
    /// The compiled form of the entity; `nil` while its model is not in use.
    package var layout: EntityLayout? {
        if let compiled { return compiled as? EntityLayout }
        guard let name, let model else { return nil }
        return (try? model.compiledLayout())?.entityByName[name]
    }
}
