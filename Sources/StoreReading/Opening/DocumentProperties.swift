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

/// The attributes of a derived model, by the paths in a file. Pure.
enum DocumentAttributes {
    /// The attributes of paths that have their first name in common: `home.city` and `home.street` are elements of a
    /// composite attribute. Paths that no composite attribute has are attributes of these names.
    static func properties(_ types: [String: NSAttributeType]) -> [PropertyDocument] {
        let most = DocumentCheck.maximumCompositeDepth + 1
        let members = types.map { path, type in
            let keys = path.split(separator: ".", maxSplits: most, omittingEmptySubsequences: false)
            return Member(keys: keys.map(String.init)[...], type: type)
        }
        if members.allSatisfy({ $0.keys.count <= most && !$0.keys.contains("") }),
            let name = members.first?.keys.first, let attribute = attribute(members.map(\.inner))
        {
            return [optional(name, .attribute(attribute))]
        }
        return types.sorted { $0.key < $1.key }.map { path, type in
            optional(path, .attribute(AttributeDocument(type: readable(type))))
        }
    }

    private struct Member {
        let keys: ArraySlice<String>
        let type: NSAttributeType

        var inner: Member { Member(keys: keys.dropFirst(), type: type) }
    }

    /// - Returns: nil if one of the paths ends where another one goes on.
    private static func attribute(_ members: [Member]) -> AttributeDocument? {
        if members.count == 1, members[0].keys.isEmpty { return AttributeDocument(type: readable(members[0].type)) }
        guard members.allSatisfy({ !$0.keys.isEmpty }) else { return nil }
        var composite = AttributeDocument(type: .compositeAttributeType)
        let groups = Dictionary(grouping: members) { $0.keys.first ?? "" }
        for (name, group) in groups.sorted(by: { $0.key < $1.key }) {
            guard let element = attribute(group.map(\.inner)) else { return nil }
            composite.elements.append(optional(name, .attribute(element)))
        }
        return composite
    }

    /// The types that a file may name, and no value has, are those of texts.
    private static func readable(_ type: NSAttributeType) -> NSAttributeType {
        [.undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType].contains(type)
            ? .stringAttributeType : type
    }

    /// A property that may be without a value, with its name in the file.
    static func optional(_ name: String, _ kind: PropertyDocument.Kind) -> PropertyDocument {
        var property = PropertyDocument(name: name, kind: kind)
        property.isOptional = true
        StoredNames.record(name, in: &property)
        return property
    }
}

/// The names that the properties of a derived model have in the store: such a model is not the one that the store was
/// made with, and its properties are found by both names.
enum StoredNames {
    private static let key = "PippinStoredName"

    static func record(_ name: String, in property: inout PropertyDocument) { property.userInfo[key] = .string(name) }

    /// The property's name for a key as it was typed, if it is the name in the store, in whichever case; otherwise the
    /// key.
    static func resolved(_ typed: String, in entity: EntityLayout) -> String {
        let all = entity.selfAndSubentities
        if all.contains(where: { $0.propertyByName[typed] != nil }) { return typed }
        let folded = typed.lowercased()
        for candidate in all {
            for (name, property) in candidate.description.propertiesByName
            where (property.userInfo?[key] as? String)?.lowercased() == folded {
                return name
            }
        }
        return typed
    }

    /// The names of the properties on a path.
    static func resolved(_ keys: [String], in entity: EntityLayout) -> [String] {
        var current: EntityLayout? = entity
        return keys.map { key in
            guard let here = current, !key.hasPrefix("@") else { return key }
            let name = resolved(key, in: here)
            current = here.selfAndSubentities.lazy.compactMap { $0.relationship(named: name)?.destination }.first
            return name
        }
    }
}

/// What an XML or binary store's file says about its entities, by the names that they have in a model. Pure.
struct DocumentFacts {
    /// What is declared of the entities' properties.
    private(set) var entities: [String: StoreDeclarations.Entity] = [:]
    /// The entities of the objects to which relationships lead, by source and name.
    private(set) var targets: [String: [String: Set<String>]] = [:]
    /// The names of entities by those in the file.
    private let spellings: [String: [String]]

    /// - Parameters:
    ///   - contents: the content of the file.
    ///   - isXML: whether it is XML, which has the names of entities in capitals. The metadata have them as they are.
    ///   - versionHashes: those in the metadata.
    init(of contents: StoreDocument, isXML: Bool, versionHashes: [String: Data]) {
        spellings = Dictionary(versionHashes.keys.map { (isXML ? $0.uppercased() : $0, [$0]) }, uniquingKeysWith: +)
        for name in spellings.keys { entities[spelled(name)] = .init() }
        for (name, declared) in contents.declarations.entities.sorted(by: { $0.key < $1.key }) {
            var entity = declared
            // A damaged file may spell one name in two ways.
            if let known = entities[spelled(name)] {
                entity.attributes.merge(known.attributes, uniquingKeysWith: contents.declarations.common)
                entity.relationships.merge(known.relationships) { first, _ in first }
            }
            for (key, relationship) in declared.relationships {
                guard let destination = relationship.destination.map(spelled) else { continue }
                entity.relationships[key]?.destination = destination
                if entities[destination] == nil { entities[destination] = .init() }
            }
            entities[spelled(name)] = entity
        }
        addObjects(of: contents)
    }

    func spelled(_ name: String) -> String {
        guard let known = spellings[name], known.count == 1 else { return name }
        return known[0]
    }

    /// What objects have is there, whether it is declared or not: a file may be damaged.
    private mutating func addObjects(of contents: StoreDocument) {
        let names = Dictionary(
            contents.objects.map { ($0.key, spelled($0.entityName)) }, uniquingKeysWith: { first, _ in first })
        for object in contents.objects {
            let entity = spelled(object.entityName)
            if entities[entity] == nil { entities[entity] = .init() }
            for (name, _) in object.attributes where entities[entity]?.attributes[name] == nil {
                entities[entity]?.attributes[name] = .stringAttributeType
            }
            for (name, keys) in object.relationships {
                let bound = entities[entity]?.relationships[name]?.maxCount
                if bound == nil { entities[entity]?.relationships[name] = .init() }
                if bound == 1, keys.count > 1 { entities[entity]?.relationships[name]?.maxCount = 0 }
                targets[entity, default: [:]][name, default: []].formUnion(keys.compactMap { names[$0] })
            }
        }
    }

    // MARK: Inheritance

    /// More attributes than real stores inherit in all.
    private static let maximumInherited = 1_000_000

    /// What the relationships say about the inheritance; nothing where they contradict each other, or say more than can
    /// be followed.
    func inheritance() -> (inheritance: EntityInheritance, isKnown: Bool) {
        let none = EntityInheritance(entities.keys.sorted())
        var found = none
        for (source, relationships) in targets {
            for (name, members) in relationships {
                guard let destination = entities[source]?.relationships[name]?.destination else { continue }
                for member in members { found.insert(member, below: destination) }
            }
        }
        guard found.close() else { return (none, false) }
        var inherited = 0
        for entity in found.entities {
            for above in found.ancestors(of: entity) { inherited += entities[above]?.attributes.count ?? 0 }
            guard inherited <= Self.maximumInherited else { return (none, false) }
        }
        return (found, true)
    }
}
