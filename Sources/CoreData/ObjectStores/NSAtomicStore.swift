import Foundation
import PredicateFormat

/// A store that is read and written as a whole: all its objects are in memory, each as a cache node.
///
/// Subclass it to keep objects in a file format of your own: `load()` reads the file and adds a node for each object,
/// `save()` writes the nodes. Fetches evaluate predicates and sort in memory.
///
/// ```swift
/// final class CSVStore: NSAtomicStore {
///     override func load() throws { … addCacheNodes(nodes) }
///     override func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }
///     override func save() throws { … cacheNodes() … }
/// }
/// NSPersistentStoreCoordinator.registerStoreClass(CSVStore.self, type: .init(rawValue: "CSV"))
/// ```
open class NSAtomicStore: NSPersistentStore, @unchecked Sendable {
    // @unchecked Sendable: used only under the coordinator's lock, like its superclass.

    weak var askingContext: NSManagedObjectContext?
    private var table = NodeTable()

    // MARK: What subclasses override

    /// Reads the file and adds a node for each object. By default there is nothing to read.
    ///
    /// - Throws: the reason why the store cannot be opened.
    open func load() throws {}

    /// Writes all nodes, and the metadata. By default nothing is written.
    ///
    /// - Throws: the reason why the store cannot be written; the nodes are then restored to their state before the
    ///   save.
    open func save() throws {}

    /// Makes the node of an inserted object. By default it has the values of the object's attributes.
    ///
    /// Relationships that the node lacks are added once all new objects have nodes.
    ///
    /// - Parameter managedObject: the new object, with its permanent ID.
    /// - Returns: the node, which the store keeps.
    open func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        let node = NSAtomicStoreCacheNode(objectID: managedObject.objectID)
        setAttributes(of: node, from: managedObject)
        return node
    }

    /// Updates an object's node to the object's values. By default all attributes and relationships are taken.
    ///
    /// - Parameters:
    ///   - node: the node of the object.
    ///   - managedObject: the object as it is being saved.
    open func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        setAttributes(of: node, from: managedObject)
        for relationship in managedObject.layout.relationships where !relationship.isTransient {
            node.setValue(nodes(of: relationship, managedObject), forKey: relationship.name)
        }
    }

    /// Called before the nodes of deleted objects are removed.
    ///
    /// - Parameter cacheNodes: the nodes.
    open func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {}

    /// The store's permanent and unique reference for a new object: a number or a string. By default a UUID as a
    /// string.
    ///
    /// - Parameter managedObject: the new object.
    /// - Returns: a number or a string.
    open func newReferenceObject(for managedObject: NSManagedObject) -> Any { UUID().uuidString }

    // MARK: What subclasses call

    /// All nodes.
    open func cacheNodes() -> Set<NSAtomicStoreCacheNode> { Set(table.nodes) }

    /// The node of an object; `nil` if the store has no such object.
    ///
    /// - Parameter objectID: the ID of the object.
    /// - Returns: the node, which the store keeps.
    open func cacheNode(for objectID: NSManagedObjectID) -> NSAtomicStoreCacheNode? { table[objectID] }

    /// Adds nodes; a node replaces another with the same ID.
    ///
    /// - Parameter cacheNodes: the nodes, with IDs of this store.
    open func addCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        add(cacheNodes.sorted { $0.objectID.key < $1.objectID.key })
    }

    /// The ID of an object by the store's reference.
    ///
    /// - Parameters:
    ///   - entity: the entity of the object.
    ///   - data: the reference from `newReferenceObject(for:)`, or from the file.
    /// - Returns: the ID; the same for the same reference.
    open func objectID(for entity: NSEntityDescription, withReferenceObject data: Any) -> NSManagedObjectID {
        ReferenceObject.identifier(of: knownLayout(of: entity), reference: data, in: identity)
    }

    /// The store's reference for an object.
    ///
    /// - Parameter objectID: the ID of an object of this store.
    /// - Returns: the reference: a number or a string.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any { ReferenceObject.reference(of: objectID) }

    // MARK: For the stores that come with Core Data

    func add(_ nodes: [NSAtomicStoreCacheNode]) { for node in nodes { table.insert(node) } }

    /// All nodes in the order in which they were added.
    var allNodes: [NSAtomicStoreCacheNode] { table.nodes }

    private func setAttributes(of node: NSAtomicStoreCacheNode, from object: NSManagedObject) {
        for (index, slot) in object.layout.slots.enumerated() where !slot.isTransient {
            guard let attribute = slot.attribute else { continue }
            let kept = object.storedValue(at: index).keptValue(for: attribute)
            node.setValue(kept ?? object.primitiveValue(forKey: slot.name), forKey: slot.name)
        }
    }

    /// The nodes at the end of a relationship.
    private func nodes(of relationship: RelationshipLayout, _ object: NSManagedObject) -> Any? {
        guard relationship.isToMany else {
            return object.toOne(relationship).flatMap { cacheNode(for: $0.objectID) }
        }
        let nodes = object.toManyObjects(relationship).compactMap { cacheNode(for: $0.objectID) }
        return relationship.isOrdered ? NSOrderedSet(array: nodes) : Set(nodes)
    }

    // MARK: The engine

    private lazy var adapter = ObjectStoreEngine(self)

    package override var engine: any StoreEngine { adapter }

    package override func loadContents() throws { try load() }

    package override func unloadContents() {
        // Nodes of objects that refer to each other would keep each other alive.
        for node in table.nodes { node.propertyCache = nil }
        table = NodeTable()
    }

    func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> {
        try ContiguousArray(found(plan).map { NodeValues.row(of: $0) })
    }

    func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        try found(plan).map(\.objectID)
    }

    func fetchCount(_ plan: FetchPlan) throws -> Int { try found(plan).count }

    func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
        try PlanEvaluation.dictionaries(plan, among: table.nodes(of: plan.entities))
    }

    private func found(_ plan: FetchPlan) throws -> [NSAtomicStoreCacheNode] {
        try PlanEvaluation.objects(plan, among: table.nodes(of: plan.entities))
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? {
        cacheNode(for: identifier).map { NodeValues.row(of: $0) }
    }

    func destinations(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID] {
        NodeValues.identifiers(
            of: cacheNode(for: identifier)?.value(forKey: relationship.name), isOrdered: relationship.isOrdered)
    }

    package override func identifier(for entity: EntityLayout, uriKey: String) -> NSManagedObjectID? {
        guard uriKey.first == "p", uriKey.count > 1 else { return nil }
        return objectID(
            for: entity.description, withReferenceObject: ReferenceObject.reference(inURIKey: uriKey.dropFirst()))
    }

    func makePermanentIdentifiers(for entities: [EntityLayout]) throws -> [NSManagedObjectID] {
        throw StoreError.unsupported("inserting rows", storeType: type, url: url)
    }

    func add(_ changes: ChangeSet) throws -> SaveResult {
        throw StoreError.unsupported("saving rows", storeType: type, url: url)
    }

    package override func relocate(to url: URL) throws { self.url = url }

    package override func saveMetadata() throws { try save() }
}

extension NSAtomicStore: ObjectStore {
    var givesFaults: Bool { false }

    func makePermanentIdentifiers(for objects: [NSManagedObject]) throws -> [NSManagedObjectID] {
        objects.map { objectID(for: $0.entity, withReferenceObject: newReferenceObject(for: $0)) }
    }

    func save(_ objects: SavedObjects, _ changes: ChangeSet) throws -> SaveResult {
        try refuseOutdated(changes)
        let updated = objects.updated.compactMap { object in
            cacheNode(for: object.objectID).map { (node: $0, object: object) }
        }
        let deleted = changes.deleted.compactMap { cacheNode(for: $0.objectID) }
        let formerTable = table
        var formerValues = (updated.map(\.node) + deleted).map { ($0, $0.propertyCache?.mutableCopy()) }
        do {
            let new = objects.inserted.map { newCacheNode(for: $0) }
            addCacheNodes(Set(new))
            for (node, object) in zip(new, objects.inserted) {
                // The context continues the version of an object that was deleted and inserted again, and so must the
                // node.
                node.version = object.version &+ 1
                complete(node, object)
            }
            for (node, object) in updated { updateCacheNode(node, from: object) }
            if !deleted.isEmpty { willRemoveCacheNodes(Set(deleted)) }
            for node in deleted { table.remove(node) }
            let dangling = NodeReference.leading(to: Set(deleted.map(\.objectID)), from: table.nodes)
            formerValues += dangling.map { ($0.node, $0.node.propertyCache?.mutableCopy()) }
            for reference in dangling { reference.clear() }
            try save()
        } catch {
            table = formerTable
            // From the end, since a node may be listed twice: what it was first counts.
            for (node, values) in formerValues.reversed() { node.propertyCache = values as? NSMutableDictionary }
            throw error
        }
        for (node, _) in updated { node.version &+= 1 }
        return SaveResult()
    }

    /// Sets the relationships of a new node that had to wait for all other new nodes.
    private func complete(_ node: NSAtomicStoreCacheNode, _ object: NSManagedObject) {
        for relationship in object.layout.relationships where !relationship.isTransient {
            let known = node.value(forKey: relationship.name)
            let count =
                relationship.isToMany
                ? NodeValues.identifiers(of: known, isOrdered: false).count
                : NodeValues.identifier(of: known) == nil ? 0 : 1
            let wanted =
                relationship.isToMany
                ? object.toManyObjects(relationship).count : object.toOne(relationship) == nil ? 0 : 1
            if count < wanted { node.setValue(nodes(of: relationship, object), forKey: relationship.name) }
        }
    }

    private func refuseOutdated(_ changes: ChangeSet) throws {
        let versions =
            changes.updated.map { ($0.objectID, $0.version) } + changes.deleted.map { ($0.objectID, $0.version) }
        let outdated = versions.compactMap { identifier, version -> (objectID: NSManagedObjectID, current: Row?)? in
            let node = cacheNode(for: identifier)
            if let node, node.version == version { return nil }
            return (identifier, node.map { NodeValues.row(of: $0) })
        }
        if !outdated.isEmpty { throw SaveRefusal.optimisticLocking(outdated) }
    }
}

extension NSPersistentStore {
    /// The compiled form of an entity in the model with which the store was opened; the entity may be of another
    /// instance of the model.
    func knownLayout(of entity: NSEntityDescription) -> EntityLayout {
        let model = persistentStoreCoordinator?.managedObjectModel
        if let layout = entity.layout, model == nil || entity.model === model { return layout }
        guard let layout = model?.entitiesByName[entity.name ?? ""]?.layout else {
            programmerError(
                "entity “\(entity.name ?? "")” is not in the model of the store “\(url?.lastPathComponent ?? "")”")
        }
        return layout
    }
}

/// A relationship of a node that leads to removed nodes, with the value that it has without them.
struct NodeReference {
    let node: NSAtomicStoreCacheNode
    let key: String
    let value: Any?

    func clear() { node.setValue(value, forKey: key) }

    /// The relationships that lead to removed objects although delete rules were followed: those without an inverse,
    /// and those whose inverse has the rule “no action”. A file that kept them would lead to objects that it lacks.
    ///
    /// - Parameters:
    ///   - removed: the IDs of the removed objects.
    ///   - nodes: the nodes that stay.
    /// - Returns: these relationships, node by node.
    static func leading(
        to removed: Set<NSManagedObjectID>, from nodes: [NSAtomicStoreCacheNode]
    ) -> [NodeReference] {
        guard !removed.isEmpty else { return [] }
        let layouts = removed.map(\.layout)
        var kept: [ObjectIdentifier: [RelationshipLayout]] = [:]
        var found: [NodeReference] = []
        for node in nodes {
            let layout = node.objectID.layout
            if kept[ObjectIdentifier(layout)] == nil {
                kept[ObjectIdentifier(layout)] = layout.relationships.filter { relationship in
                    let rule = relationship.inverse?.deleteRule ?? .noActionDeleteRule
                    return !relationship.isTransient && rule == .noActionDeleteRule
                        && layouts.contains { $0.isKind(of: relationship.destination) }
                }
            }
            for relationship in kept[ObjectIdentifier(layout)] ?? [] {
                if let reference = leading(to: removed, from: node, relationship) { found.append(reference) }
            }
        }
        return found
    }

    private static func leading(
        to removed: Set<NSManagedObjectID>, from node: NSAtomicStoreCacheNode, _ relationship: RelationshipLayout
    ) -> NodeReference? {
        let key = relationship.name
        guard let value = node.value(forKey: key) else { return nil }
        func isRemoved(_ element: Any) -> Bool { NodeValues.identifier(of: element).map(removed.contains) ?? false }
        guard relationship.isToMany else {
            return isRemoved(value) ? NodeReference(node: node, key: key, value: nil) : nil
        }
        let members = NodeValues.elements(of: value)
        let left = members.filter { !isRemoved($0) }
        guard left.count < members.count else { return nil }
        return NodeReference(
            node: node, key: key, value: relationship.isOrdered ? NSOrderedSet(array: left) : NSSet(array: left))
    }
}

/// Carries out a fetch plan in memory, on nodes, as SQL does for a store in a database.
enum PlanEvaluation {
    /// The nodes that satisfy the plan's predicate, in its order, within its limit.
    ///
    /// - Throws: an `NSError` that names a key which the entity does not have, or for a sort descriptor with code.
    static func objects(_ plan: FetchPlan, among nodes: [NSAtomicStoreCacheNode]) throws -> [NSAtomicStoreCacheNode] {
        cut(try sorted(matching(plan, nodes), plan), plan)
    }

    /// The dictionaries that a plan with columns finds.
    ///
    /// - Throws: an `NSError` that names a key which the entity does not have, or which leads to many objects.
    static func dictionaries(_ plan: FetchPlan, among nodes: [NSAtomicStoreCacheNode]) throws -> [[String: Any]] {
        let evaluation = try DictionaryEvaluation(plan)
        return try evaluation.dictionaries(of: sorted(matching(plan, nodes), plan).map { .object($0) })
    }

    private static func cut<Element>(_ elements: [Element], _ plan: FetchPlan) -> [Element] {
        let rest = elements.dropFirst(max(plan.offset, 0))
        return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
    }

    /// - Throws: an `NSError` that names a key of the predicate which the entity does not have, or which needs a
    ///   quantifier.
    private static func matching(
        _ plan: FetchPlan, _ nodes: [NSAtomicStoreCacheNode]
    ) throws -> [NSAtomicStoreCacheNode] {
        guard let predicate = plan.predicate else { return nodes }
        if let tree = try? predicateTree(of: predicate) {
            try PredicateKeys.checkEvaluation(tree, of: plan.entity)
            // `price == max(price)`: over all objects of the entity.
            if tree.aggregatesObjects(of: plan.entity) {
                let compiled = CompiledPredicate(
                    tree.aggregating(over: nodes.map { .object($0) }, of: plan.entity))
                return try StoreError.evaluating { nodes.filter { compiled.evaluate($0) } }
            }
        }
        // A predicate without a tree, such as one with a block, evaluates itself.
        guard let compiled = try? compiledPredicate(of: predicate) else {
            return try StoreError.evaluating { nodes.filter { predicate.evaluate(with: $0) } }
        }
        return try StoreError.evaluating { nodes.filter { compiled.evaluate($0) } }
    }

    private static func sorted(
        _ nodes: [NSAtomicStoreCacheNode], _ plan: FetchPlan
    ) throws -> [NSAtomicStoreCacheNode] {
        guard !plan.sortDescriptors.isEmpty else { return nodes }
        let terms: [SortTerm]
        do { terms = try sortTerms(of: plan.sortDescriptors) } catch {
            throw StoreError.make(
                CoreDataErrorCode.coreData, "The fetch cannot be sorted: \(error.localizedDescription)",
                underlying: error)
        }
        for term in terms { try PredicateKeys.checkOne(.keyPath(term.keyPath), of: plan.entity) }
        return nodes.sorted(by: terms)
    }
}
