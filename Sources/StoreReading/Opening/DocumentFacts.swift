import CoreData
import ModelFiles

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
