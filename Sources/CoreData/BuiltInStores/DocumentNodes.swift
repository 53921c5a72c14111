import Foundation

/// Converts a store's document to nodes, and nodes to a document. Pure, except for the nodes.
struct DocumentNodes {
    /// The entities of the store, by the names that the document uses.
    private let entities: [String: EntityLayout]
    /// The spelling of a property's name in the document.
    private let spelling: (String) -> String
    private let identity: StoreIdentity
    /// The store's options for transformable attributes.
    var decoding = TransformableCoding.Options()
    /// Whether the model was made for the document, and what contradicts itself there is read, too: see
    /// `DocumentStore.showsAllOption`.
    var showsAll = false

    /// - Parameters:
    ///   - entities: the entities that the store holds.
    ///   - spelling: how the file spells the name of an entity.
    ///   - propertySpelling: how the file spells the name of a property.
    ///   - identity: the store's identity.
    /// - Throws: the reason why the names cannot be used in such a file.
    init(
        _ entities: [EntityLayout], spelling: (String) -> String, propertySpelling: @escaping (String) -> String,
        identity: StoreIdentity
    ) throws(FileValues.Failure) {
        var byName: [String: EntityLayout] = [:]
        for entity in entities {
            if let other = byName.updateValue(entity, forKey: spelling(entity.name)) {
                throw FileValues.Failure(
                    reason: "it cannot tell the entities “\(other.name)” and “\(entity.name)” apart")
            }
            var names: [String: String] = [:]
            for name in entity.propertyByName.keys.sorted() {
                if let other = names.updateValue(name, forKey: propertySpelling(name)) {
                    throw FileValues.Failure(
                        reason: "it cannot tell “\(entity.name).\(other)” and “\(entity.name).\(name)” apart")
                }
            }
        }
        self.entities = byName
        self.spelling = propertySpelling
        self.identity = identity
    }

    // MARK: Reading

    /// The nodes of a document, in its order, and the places of its values.
    ///
    /// - Throws: the error in the document, with its object and property.
    func nodes(
        of document: StoreDocument
    ) throws(FileValues.Failure) -> (nodes: [NSAtomicStoreCacheNode], order: PlaceOrder) {
        var nodes: [NSAtomicStoreCacheNode] = []
        var byKey: [Int64: NSAtomicStoreCacheNode] = [:]
        var places = try AttributePlaces(of: document, entities, showsAll: showsAll)
        for var object in document.objects {
            guard let entity = entities[object.entityName] else {
                throw FileValues.Failure(
                    reason: "object \(object.key) is of entity “\(object.entityName)”, which the model does not have",
                    isMisfit: true)
            }
            let node = NSAtomicStoreCacheNode(
                objectID: NSManagedObjectID(layout: entity, store: identity, key: object.key))
            guard byKey.updateValue(node, forKey: object.key) == nil else {
                throw FileValues.Failure(reason: "there are two objects \(object.key)")
            }
            try places.name(&object, entity)
            try setAttributes(of: node, object, entity)
            nodes.append(node)
        }
        var relationships: [String: [String: RelationshipLayout]] = [:]
        for (node, object) in zip(nodes, document.objects) where !object.relationships.isEmpty {
            if relationships[object.entityName] == nil {
                relationships[object.entityName] = Dictionary(
                    node.objectID.layout.relationships.map { (spelling($0.name), $0) },
                    uniquingKeysWith: { first, _ in first })
            }
            for (name, keys) in object.relationships {
                try link(node, name, keys, relationships[object.entityName]?[name], byKey)
            }
        }
        return (nodes, places.order)
    }

    private func setAttributes(
        of node: NSAtomicStoreCacheNode, _ object: StoreDocument.Object, _ entity: EntityLayout
    ) throws(FileValues.Failure) {
        let known = Dictionary(object.attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        var used = 0
        for slot in entity.slots where !slot.isTransient {
            guard let attribute = slot.attribute else { continue }
            let value = try value(of: attribute, named: spelling(slot.name), known, &used, object)
            if let any = value.nodeValue(for: attribute) { node.setValue(any, forKey: slot.name) }
        }
        if used < known.count {
            var paths: Set<String> = []
            for slot in entity.slots where !slot.isTransient {
                if let attribute = slot.attribute {
                    insertPaths(of: attribute, named: spelling(slot.name), into: &paths)
                }
            }
            let unknown = known.keys.filter { !paths.contains($0) }
            throw FileValues.Failure(
                reason: "object \(object.key) has \(unknown.sorted().map { "“\($0)”" }.joined(separator: ", ")), "
                    + "which entity “\(entity.name)” does not have", isMisfit: true)
        }
    }

    /// The names of an attribute's values in the document: those of a composite one are paths.
    private func insertPaths(of attribute: AttributeLayout, named name: String, into paths: inout Set<String>) {
        guard attribute.type == .compositeAttributeType else {
            paths.insert(name)
            return
        }
        for element in attribute.elements {
            insertPaths(of: element, named: "\(name).\(spelling(element.name))", into: &paths)
        }
    }

    private func value(
        of attribute: AttributeLayout, named name: String, _ known: [String: StoreDocument.FileValue],
        _ used: inout Int, _ object: StoreDocument.Object
    ) throws(FileValues.Failure) -> StoredValue {
        if attribute.type == .compositeAttributeType {
            var elements: [(AttributeLayout, StoredValue)] = []
            for element in attribute.elements {
                let name = "\(name).\(spelling(element.name))"
                elements.append((element, try value(of: element, named: name, known, &used, object)))
            }
            return .composite(elements)
        }
        guard let value = known[name] else { return .null }
        used += 1
        if showsAll, attribute.type == .stringAttributeType { return .string(FileValues.text(of: value)) }
        do { return try FileValues.storedValue(value, of: attribute, decoding) } catch {
            throw FileValues.Failure(reason: "“\(name)” of object \(object.key): \(error.reason)")
        }
    }

    private func link(
        _ node: NSAtomicStoreCacheNode, _ name: String, _ keys: [Int64], _ relationship: RelationshipLayout?,
        _ byKey: [Int64: NSAtomicStoreCacheNode]
    ) throws(FileValues.Failure) {
        let entity = node.objectID.layout
        let place = "“\(name)” of object \(node.objectID.key)"
        guard let relationship else {
            // A file that has an attribute and a relationship of one name has the attribute.
            if showsAll { return }
            throw FileValues.Failure(
                reason: "\(place): entity “\(entity.name)” has no such relationship", isMisfit: true)
        }
        var destinations: [NSAtomicStoreCacheNode] = []
        for key in keys {
            // The object was deleted, and the relationship has no inverse: it leads to nothing, as in a database.
            guard let destination = byKey[key] else { continue }
            guard destination.objectID.layout.isKind(of: relationship.destination) else {
                throw FileValues.Failure(
                    reason: "\(place) leads to object \(key), which is no “\(relationship.destination.name)”")
            }
            destinations.append(destination)
        }
        if relationship.isToMany {
            let value: Any = relationship.isOrdered ? NSOrderedSet(array: destinations) : Set(destinations)
            node.setValue(value, forKey: relationship.name)
        } else {
            guard destinations.count <= 1 else {
                throw FileValues.Failure(reason: "\(place) leads to \(destinations.count) objects")
            }
            node.setValue(destinations.first, forKey: relationship.name)
        }
    }

    // MARK: Writing

    /// A node in the document's form.
    ///
    /// - Throws: the value that cannot be written, with its object and property.
    func object(of node: NSAtomicStoreCacheNode) throws(FileValues.Failure) -> StoreDocument.Object {
        let entity = node.objectID.layout
        guard let name = entities.first(where: { $0.value === entity })?.key else {
            throw FileValues.Failure(reason: "the store does not hold objects of entity “\(entity.name)”")
        }
        var object = StoreDocument.Object(entityName: name, key: node.objectID.key)
        for slot in entity.slots where !slot.isTransient {
            guard let attribute = slot.attribute else { continue }
            let value = StoredValue(nodeValue: node.value(forKey: slot.name), for: attribute)
            do { try append(value, attribute, spelling(slot.name), to: &object) } catch {
                throw FileValues.Failure(reason: "“\(entity.name).\(slot.name)”: \(error.reason)")
            }
        }
        for relationship in entity.relationships where !relationship.isTransient {
            let value = node.value(forKey: relationship.name)
            let destinations =
                relationship.isToMany
                ? NodeValues.identifiers(of: value, isOrdered: relationship.isOrdered)
                : NodeValues.identifier(of: value).map { [$0] } ?? []
            object.relationships.append((spelling(relationship.name), destinations.map(\.key)))
        }
        return object
    }

    private func append(
        _ value: StoredValue, _ attribute: AttributeLayout, _ name: String, to object: inout StoreDocument.Object
    ) throws(FileValues.Failure) {
        if attribute.type == .compositeAttributeType {
            guard case .object(let composite as CompositeValue) = value else { return }
            for element in attribute.elements {
                try append(composite.stored(element), element, "\(name).\(spelling(element.name))", to: &object)
            }
        } else if let value = try FileValues.fileValue(value, of: attribute) {
            object.attributes.append((name, value))
        }
    }
}
