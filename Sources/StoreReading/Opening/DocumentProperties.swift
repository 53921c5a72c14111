import CoreData
import ModelFiles

/// The properties of a derived model's entities: what an entity and some of its subentities have is declared once, by
/// the uppermost that has it. Pure.
struct DocumentProperties {
    /// What entities own under one name.
    fileprivate struct Owned: Equatable {
        /// The types of an attribute: by its name, or by the paths of a composite one's elements, `home.city`.
        var types: [String: NSAttributeType] = [:]
        var isRelationship = false
        var isToMany = false
        /// The bound of a to-many relationship, where all say the same.
        var maxCount: Int?
        /// The entities to which a relationship was declared to lead.
        var destinations: Set<String> = []
        /// The entities of the objects to which it leads.
        var targets: Set<String> = []
    }

    /// By owner and name.
    private var owned: [String: [String: Owned]] = [:]
    /// The owners, by entity and name.
    private var owners: [String: [String: String]] = [:]

    /// - Parameters:
    ///   - facts: what the file says.
    ///   - inheritance: the inheritance of the entities.
    ///   - mixed: the common type of two different ones.
    init(
        _ facts: DocumentFacts, _ inheritance: EntityInheritance,
        mixed: (NSAttributeType, NSAttributeType) -> NSAttributeType
    ) {
        let names = facts.entities.mapValues { entity in
            Set(entity.attributes.keys.map(Self.name)).union(entity.relationships.keys)
        }
        for (entity, declared) in facts.entities {
            let ancestors = inheritance.ancestors(of: entity)
            for name in names[entity] ?? [] {
                owners[entity, default: [:]][name] = ancestors.first { names[$0]?.contains(name) == true } ?? entity
            }
            for (path, type) in declared.attributes {
                let name = Self.name(path)
                let owner = owners[entity]?[name] ?? entity
                let known = owned[owner]?[name]?.types[path]
                owned[owner, default: [:]][name, default: Owned()].types[path] = known.map { mixed($0, type) } ?? type
            }
            for (name, relationship) in declared.relationships {
                let owner = owners[entity]?[name] ?? entity
                owned[owner, default: [:]][name, default: Owned()].add(
                    relationship, facts.targets[entity]?[name] ?? [])
            }
        }
    }

    /// The name of the property to which a path in a file belongs.
    private static func name(_ path: String) -> String { String(path.prefix { $0 != "." }) }

    /// Makes whole numbers of 64 bits, or texts, of attributes with a value that their type does not have.
    ///
    /// - Returns: the attributes, `Entity.name`, in alphabetical order.
    mutating func fit(to contents: StoreDocument, _ facts: DocumentFacts) -> [String] {
        var fitted: Set<String> = []
        // Former values must be of the new type as well; texts are all.
        while true {
            let before = owned
            for object in contents.objects {
                let entity = facts.spelled(object.entityName)
                for (path, value) in object.attributes {
                    let name = Self.name(path)
                    guard let owner = owners[entity]?[name], let type = owned[owner]?[name]?.types[path],
                        type != .stringAttributeType, !DocumentStore.reads(value, as: type)
                    else { continue }
                    let isWhole =
                        Self.wholeTypes.contains(type) && DocumentStore.reads(value, as: .integer64AttributeType)
                    owned[owner]?[name]?.types[path] = isWhole ? .integer64AttributeType : .stringAttributeType
                    fitted.insert("\(owner).\(path)")
                }
            }
            if owned == before { return fitted.sorted() }
        }
    }

    private static let wholeTypes: [NSAttributeType] = [
        .booleanAttributeType, .integer16AttributeType, .integer32AttributeType,
    ]

    /// The attributes, `Entity.name`, that have the names of relationships, which are left out.
    var clashes: [String] {
        owned.flatMap { owner, properties in
            properties.filter { !$0.value.types.isEmpty && $0.value.isRelationship }.map { "\(owner).\($0.key)" }
        }.sorted()
    }

    /// The entities to which one relationship leads each, where no declared one has all of them.
    func groups(_ inheritance: EntityInheritance) -> [Set<String>] {
        owned.values.flatMap(\.values).compactMap { property in
            property.types.isEmpty && property.declaredDestination(inheritance) == nil ? property.members : nil
        }
    }

    /// The properties of an entity, with the names that they have in the file.
    ///
    /// - Parameters:
    ///   - entity: the entity.
    ///   - inheritance: the inheritance, in which the entities of each relationship are joined.
    /// - Returns: attributes and relationships, sorted by name.
    func properties(of entity: String, _ inheritance: EntityInheritance) -> [PropertyDocument] {
        let properties = (owned[entity] ?? [:]).sorted { $0.key < $1.key }
        let attributes = properties.filter { !$0.value.types.isEmpty }.flatMap {
            DocumentAttributes.properties($1.types)
        }
        let relationships = properties.filter(\.value.types.isEmpty).map { name, property in
            var relationship = RelationshipDocument()
            // A relationship that only leads to objects that are gone says nothing: any entity will do.
            relationship.destinationName =
                property.declaredDestination(inheritance) ?? inheritance.common(property.members) ?? entity
            relationship.maxCount = property.isToMany ? max(property.maxCount ?? 0, 0) : 1
            // The file has an order; whether it means anything is not known.
            relationship.isOrdered = property.isToMany
            return DocumentAttributes.optional(name, .relationship(relationship))
        }
        return attributes + relationships
    }
}

extension DocumentProperties.Owned {
    fileprivate mutating func add(_ relationship: StoreDeclarations.Relationship, _ found: Set<String>) {
        isRelationship = true
        if relationship.maxCount != 1 {
            maxCount = isToMany && maxCount != relationship.maxCount ? 0 : relationship.maxCount
            isToMany = true
        }
        if let destination = relationship.destination { destinations.insert(destination) }
        targets.formUnion(found)
    }

    fileprivate var members: Set<String> { destinations.union(targets) }

    /// The declared destination, if there is one from which all objects' entities inherit.
    fileprivate func declaredDestination(_ inheritance: EntityInheritance) -> String? {
        guard destinations.count == 1, let destination = destinations.first,
            targets.allSatisfy({ inheritance.isKind($0, of: destination) })
        else { return nil }
        return destination
    }
}
