import CoreData
import ModelFiles

/// A model for an XML or binary store, which keeps no copy of its own: what the file says about its objects.
///
/// An XML store says the types of attributes and where relationships lead, and so does a binary one of ours; one of
/// Core Data on macOS has values whose classes say it, by place.
enum DocumentModel {
    static func candidate(for url: URL, facts: FileFacts, reason: String) throws -> ModelCandidate {
        let contents = try DocumentStore.contents(of: url, type: facts.kind.type)
        let document = try document(of: contents, isXML: facts.kind == .xml, versionHashes: facts.versionHashes)
        guard !document.entities.isEmpty else { throw CommandError("\(reason), and it has no objects") }
        let names = contents.hasCoreDataLayout ? ", in which attributes have numbers instead of names" : ""
        return ModelCandidate(
            document: document, versionHashes: [:],
            origin: "none: \(reason). Its objects are shown as the file has them\(names)",
            gap: "\(reason); its objects are shown as the file has them\(names)")
    }

    /// Pure.
    static func document(
        of contents: StoreDocument, isXML: Bool, versionHashes: [String: Data] = [:]
    ) throws -> ModelDocument {
        // XML has the names of entities in capitals, and the metadata have them as they are.
        let spellings = Dictionary(
            versionHashes.keys.map { (isXML ? $0.uppercased() : $0, [$0]) }, uniquingKeysWith: +)
        func spelled(_ name: String) -> String {
            guard let known = spellings[name], known.count == 1 else { return name }
            return known[0]
        }
        var declared: [String: StoreDeclarations.Entity] = [:]
        for name in spellings.keys { declared[spelled(name)] = .init() }
        for object in contents.objects { declared[spelled(object.entityName)] = .init() }
        for (name, entity) in contents.declarations.entities {
            declared[spelled(name)] = entity
            for relationship in entity.relationships.values {
                guard let destination = relationship.destination.map(spelled), declared[destination] == nil else {
                    continue
                }
                declared[destination] = .init()
            }
        }
        let targets = targets(in: contents, spelled)
        var inheritance = EntityInheritance(declared.keys.sorted())
        for (source, relationships) in targets {
            for (name, found) in relationships {
                guard let destination = declared[source]?.relationships[name]?.destination.map(spelled) else {
                    continue
                }
                for target in found { inheritance.insert(target, below: destination) }
            }
        }
        try inheritance.close()
        for relationships in targets.values {
            for found in relationships.values { inheritance.join(found) }
        }
        return document(declared, inheritance) { source, name in
            if let destination = declared[source]?.relationships[name]?.destination { return spelled(destination) }
            // A relationship that only leads to objects that are gone says nothing: any entity will do.
            return inheritance.common(targets[source]?[name] ?? []) ?? source
        }
    }

    /// The entities of the objects to which relationships lead, by source and name.
    private static func targets(
        in contents: StoreDocument, _ spelled: (String) -> String
    ) -> [String: [String: Set<String>]] {
        let entities = Dictionary(
            contents.objects.map { ($0.key, $0.entityName) }, uniquingKeysWith: { first, _ in first })
        var targets: [String: [String: Set<String>]] = [:]
        for object in contents.objects {
            for (name, keys) in object.relationships {
                let found = Set(keys.compactMap { entities[$0] })
                targets[object.entityName, default: [:]][name, default: []].formUnion(found)
            }
        }
        return Dictionary(
            targets.map { (spelled($0.key), $0.value.mapValues { Set($0.map(spelled)) }) },
            uniquingKeysWith: { first, _ in first })
    }

    private static func document(
        _ declared: [String: StoreDeclarations.Entity], _ inheritance: EntityInheritance,
        destination: (String, String) -> String
    ) -> ModelDocument {
        var document = ModelDocument()
        let descendants = inheritance.descendants
        for name in inheritance.entities {
            let own = declared[name] ?? .init()
            let below = (descendants[name] ?? []).compactMap { declared[$0] }
            let above = inheritance.ancestors(of: name).compactMap { declared[$0] }
            var described = EntityDocument(name: name)
            described.parentName = inheritance.parent(of: name)
            described.isAbstract = declared[name] == nil
            // What an object of a superentity has is declared there.
            let types = own.attributes.filter { path, _ in !above.contains { $0.attributes[path] != nil } }
                .map { path, type in
                    (
                        path.split(separator: ".", omittingEmptySubsequences: false).map(String.init),
                        below.compactMap { $0.attributes[path] }.reduce(type, StoreDeclarations.common)
                    )
                }
            described.properties = attributes(types)
            for (key, relationship) in own.relationships.sorted(by: { $0.key < $1.key })
            where !above.contains(where: { $0.relationships[key] != nil })
                && !described.properties.contains(where: { $0.name == key })
            {
                let isToMany = ([own] + below).contains { $0.relationships[key].map { $0.maxCount != 1 } ?? false }
                described.properties.append(self.relationship(key, to: destination(name, key), isToMany, relationship))
            }
            document.entities.append(described)
        }
        return document
    }

    private static func relationship(
        _ name: String, to destination: String, _ isToMany: Bool, _ declared: StoreDeclarations.Relationship
    ) -> PropertyDocument {
        var relationship = RelationshipDocument()
        relationship.destinationName = destination
        relationship.maxCount = isToMany ? max(declared.maxCount == 1 ? 0 : declared.maxCount, 0) : 1
        // The file has an order; whether it means anything is not known.
        relationship.isOrdered = isToMany
        var property = PropertyDocument(name: name, kind: .relationship(relationship))
        property.isOptional = true
        StoredNames.record(name, in: &property)
        return property
    }

    /// The attributes of paths: `address.street` is an element of a composite attribute.
    private static func attributes(_ types: [(path: [String], type: NSAttributeType)]) -> [PropertyDocument] {
        Dictionary(grouping: types) { $0.path[0] }.sorted { $0.key < $1.key }.map { name, members in
            var attribute = AttributeDocument(type: .compositeAttributeType)
            let elements = members.filter { $0.path.count > 1 }
            if elements.isEmpty {
                attribute.type = members[0].type
            } else {
                attribute.elements = attributes(elements.map { (Array($0.path.dropFirst()), $0.type) })
            }
            var property = PropertyDocument(name: name, kind: .attribute(attribute))
            property.isOptional = true
            StoredNames.record(name, in: &property)
            return property
        }
    }
}
