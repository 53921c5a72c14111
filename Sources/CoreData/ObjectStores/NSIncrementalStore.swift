import CoreDataModel
import Foundation
import StoreEngine

/// A store that is asked for objects as they are needed, such as one in front of a web service or a database of the
/// developer's own.
///
/// Subclass it and register the subclass with the coordinator. A fetch calls `execute(_:with:)`, which returns objects
/// made by `context.object(with:)` from their IDs. Their values are requested when they are first read, by
/// `newValuesForObject(with:with:)` and, one relationship at a time, `newValue(forRelationship:forObjectWith:with:)`.
///
/// Its methods are called under the coordinator's lock, on the queue of the asking context.
open class NSIncrementalStore: NSPersistentStore, @unchecked Sendable {
    // @unchecked Sendable: used only under the coordinator's lock, like its superclass.

    weak var askingContext: NSManagedObjectContext?
    /// Used if the coordinator itself asks.
    private var ownContext: NSManagedObjectContext?
    var savedVersions = SavedVersions()
    /// The nodes whose relationships the store is asked for now.
    var unfinished: [NSManagedObjectID: NSIncrementalStoreNode] = [:]

    // MARK: What subclasses override

    /// Sets `metadata`, which must contain the type and the UUID of the store. By default these are the registered
    /// type, and `identifierForNewStore(at:)`.
    ///
    /// - Throws: the reason why the store cannot be opened.
    open override func loadMetadata() throws { metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: identity.uuid] }

    /// Carries out a request.
    ///
    /// - Parameters:
    ///   - request: an `NSFetchRequest<any NSFetchRequestResult>` or an `NSSaveChangesRequest`; other requests are
    ///     refused.
    ///   - context: the asking context.
    /// - Returns: for a fetch, an array of objects, IDs or dictionaries, or the count, depending on its result type; an
    ///   empty array for a save.
    /// - Throws: the reason why the request cannot be carried out. By default
    ///   `NSPersistentStoreUnsupportedRequestTypeError`.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext?) throws -> Any {
        throw StoreError.unsupported("requests of type \(Swift.type(of: request))", storeType: type, url: url)
    }

    /// The values of an object: its attributes, and its to-one relationships as IDs.
    ///
    /// A save asks for the objects that it changes or deletes, too: a version other than that with which the context
    /// read the object is a conflict.
    ///
    /// - Parameters:
    ///   - objectID: the ID of the object.
    ///   - context: the asking context.
    /// - Returns: a node with the values and their version.
    /// - Throws: `NSManagedObjectReferentialIntegrityError` for a deleted object, and the error of reading the values.
    ///   By default, an error that the store does not support it.
    open func newValuesForObject(
        with objectID: NSManagedObjectID, with context: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode {
        throw StoreError.unsupported("reading the values of objects", storeType: type, url: url)
    }

    /// The destinations of a relationship: an array of IDs, or for a to-one relationship an ID or `NSNull`.
    ///
    /// - Parameters:
    ///   - relationship: the relationship.
    ///   - objectID: the ID of the object that has it.
    ///   - context: the asking context.
    /// - Returns: an array of `NSManagedObjectID`, one `NSManagedObjectID`, or `NSNull` for a to-one relationship that
    ///   leads nowhere.
    /// - Throws: the reason why the relationship cannot be read. By default, an error that the store does not support
    ///   it.
    open func newValue(
        forRelationship relationship: NSRelationshipDescription, forObjectWith objectID: NSManagedObjectID,
        with context: NSManagedObjectContext?
    ) throws -> Any {
        throw StoreError.unsupported("reading relationships", storeType: type, url: url)
    }

    /// Permanent IDs for new objects, in order; see `newObjectID(for:referenceObject:)`.
    ///
    /// - Parameter array: the new objects.
    /// - Returns: one ID for each object.
    /// - Throws: the reason why the IDs cannot be made. By default, an error that the store does not support it.
    open func obtainPermanentIDs(for array: [NSManagedObject]) throws -> [NSManagedObjectID] {
        throw StoreError.unsupported("inserting objects", storeType: type, url: url)
    }

    /// Called shortly after contexts have registered objects of the store, once for each context.
    ///
    /// - Parameter objectIDs: the IDs of the objects.
    open func managedObjectContextDidRegisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// Called shortly after contexts have released objects of the store, once for each context.
    ///
    /// - Parameter objectIDs: the IDs of the objects.
    open func managedObjectContextDidUnregisterObjects(with objectIDs: [NSManagedObjectID]) {}

    /// The UUID of a new store at a URL. By default a random one.
    ///
    /// - Parameter storeURL: the URL of the new store.
    /// - Returns: the identifier, a string.
    open class func identifierForNewStore(at storeURL: URL) -> Any { UUID().uuidString }

    // MARK: What subclasses call

    /// The ID of an object by the store's reference.
    ///
    /// - Parameters:
    ///   - entity: the entity of the object.
    ///   - data: a number or a string, permanent and unique within the entity.
    /// - Returns: the permanent ID; the same for the same reference.
    open func newObjectID(for entity: NSEntityDescription, referenceObject data: Any) -> NSManagedObjectID {
        ReferenceObject.identifier(of: knownLayout(of: entity), reference: data, in: identity)
    }

    /// The store's reference for an object: the one passed to `newObjectID(for:referenceObject:)`; for an ID made from
    /// a URI, a number if the reference looks like one, otherwise a string.
    ///
    /// - Parameter objectID: the ID of an object of this store.
    /// - Returns: the reference: a number or a string.
    open func referenceObject(for objectID: NSManagedObjectID) -> Any { ReferenceObject.reference(of: objectID) }

    // MARK: The engine

    private lazy var adapter = ObjectStoreEngine(self)

    package override var engine: any StoreEngine { adapter }

    /// Calls the subclass later, since an object may be released on any thread, which may hold locks.
    private func note(_ identifier: NSManagedObjectID, isKnown: Bool) {
        persistentStoreCoordinator?.perform { [self] in
            if isKnown {
                managedObjectContextDidRegisterObjects(with: [identifier])
            } else {
                managedObjectContextDidUnregisterObjects(with: [identifier])
            }
        }
    }

    func context() -> NSManagedObjectContext {
        if let askingContext { return askingContext }
        if let ownContext { return ownContext }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = persistentStoreCoordinator
        ownContext = context
        return context
    }

    package override func prepare(for url: URL) {
        identity.uuid = "\(Swift.type(of: self).identifierForNewStore(at: url))"
        identity.observer = { [weak self] in self?.note($0, isKnown: $1) }
    }

    package override func unloadContents() {
        ownContext = nil
        savedVersions = SavedVersions()
    }

    /// Sends the store a save request without sets, to save only the metadata.
    package override func saveMetadata() throws {
        let request = NSSaveChangesRequest(inserted: nil, updated: nil, deleted: nil, locked: nil)
        request.affectedStores = [self]
        _ = try execute(request, with: context())
    }

    /// Sends the store a save request with empty sets, as Core Data does: a store may do more in a save than write.
    func saveNoObjects(of context: NSManagedObjectContext) throws {
        let request = NSSaveChangesRequest(inserted: [], updated: [], deleted: [], locked: [])
        request.affectedStores = [self]
        _ = try execute(request, with: context)
    }

    func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> {
        try ContiguousArray(fetchIdentifiers(plan).compactMap { try row(for: $0) })
    }

    func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        let asking = context()
        let result = try execute(request(plan, .managedObjectResultType), with: asking)
        let elements = result as? [Any] ?? []
        let identifiers = elements.compactMap { NodeValues.identifier(of: $0) }
        guard result is [Any], identifiers.count == elements.count else { throw wrong(result, "an array of objects") }
        return identifiers
    }

    func fetchCount(_ plan: FetchPlan) throws -> Int {
        let result = try execute(request(plan, .countResultType), with: context())
        if let number = result as? NSNumber { return number.intValue }
        guard let elements = result as? [Any] else { throw wrong(result, "a number") }
        if elements.count == 1, let number = elements.first as? NSNumber { return number.intValue }
        return elements.count
    }

    func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
        let result = try execute(request(plan, .dictionaryResultType), with: context())
        guard let dictionaries = result as? [[String: Any]] else { throw wrong(result, "an array of dictionaries") }
        return dictionaries
    }

    private func wrong(_ result: Any, _ expected: String) -> NSError {
        StoreError.make(
            CoreDataErrorCode.coreData,
            "\(Swift.type(of: self)).execute(_:with:) answered a fetch with \(Swift.type(of: result)); it wants \(expected).",
            url: url)
    }

    private func request(
        _ plan: FetchPlan, _ resultType: NSFetchRequestResultType
    ) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.entity.name)
        request.entity = plan.entity.description
        request.affectedStores = [self]
        request.resultType = resultType
        request.includesSubentities = plan.includesSubentities
        request.predicate = plan.predicate
        request.sortDescriptors = plan.sortDescriptors
        request.fetchLimit = plan.limit
        request.fetchOffset = plan.offset
        request.propertiesToFetch = plan.columns.isEmpty ? nil : plan.columns.map(\.propertyToFetch)
        request.propertiesToGroupBy =
            plan.groupBy.isEmpty
            ? nil
            : plan.groupBy.map { name in plan.groupColumns.first { $0.name == name }?.propertyToFetch ?? name }
        request.havingPredicate = plan.having
        request.returnsDistinctResults = plan.isDistinct
        return request
    }

    func destinations(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID] {
        let value = try newValue(
            forRelationship: relationship.description, forObjectWith: identifier, with: context())
        return NodeValues.identifiers(of: value, isOrdered: relationship.isOrdered)
    }

    package override func identifier(for entity: EntityLayout, uriKey: String) -> NSManagedObjectID? {
        guard uriKey.first == "p", uriKey.count > 1 else { return nil }
        return newObjectID(
            for: entity.description, referenceObject: ReferenceObject.reference(inURIKey: uriKey.dropFirst()))
    }
}

extension FetchColumn {
    /// The column in the form that a fetch request takes.
    fileprivate var propertyToFetch: Any {
        switch self {
        case .keyPath(let path): return path
        case .expression(let name, let expression, let type):
            let description = NSExpressionDescription()
            description.name = name
            description.expression = expression
            description.expressionResultType = type
            return description
        }
    }
}

/// The versions of objects that contexts have saved to an incremental store.
///
/// A save increases the version of a context's object by one. A developer's store may count otherwise, take a time
/// stamp, or have one version for everything: what it says when it is first asked after a save is the version of that
/// save.
struct SavedVersions {
    /// For each object the version that its context has since the last save, and the store's; `nil` until the store is
    /// asked.
    private var entries: [NSManagedObjectID: (saved: Int64, stored: Int64?)] = [:]

    mutating func noteSave(_ version: Int64, of identifier: NSManagedObjectID) {
        entries[identifier] = (version, nil)
    }

    mutating func noteRead(_ stored: Int64, of identifier: NSManagedObjectID) {
        guard let entry = entries[identifier], entry.stored == nil else { return }
        entries[identifier] = entry.saved == stored ? nil : (entry.saved, stored)
    }

    /// Whether the version of a context's object is the store's present one.
    func agrees(_ version: Int64, with stored: Int64, of identifier: NSManagedObjectID) -> Bool {
        guard let entry = entries[identifier], entry.saved == version else { return version == stored }
        return entry.stored == stored
    }
}

// The store's nodes as rows.
extension NSIncrementalStore {
    func row(for identifier: NSManagedObjectID) throws -> Row? {
        // The store reads an object that it is asked about: what it leaves out is not asked for again meanwhile.
        if let node = unfinished[identifier] { return row(of: node, identifier) { _ in nil } }
        let asking = context()
        return try node(of: identifier, for: asking).map { try row(of: $0, identifier, for: asking) }
    }

    /// The values that the store has of an object; `nil` if it is gone.
    func node(
        of identifier: NSManagedObjectID, for asking: NSManagedObjectContext
    ) throws -> NSIncrementalStoreNode? {
        do {
            let node = try newValuesForObject(with: identifier, with: asking)
            savedVersions.noteRead(node.rowVersion, of: identifier)
            return node
        } catch let error as CocoaError where error.code == .managedObjectReferentialIntegrity {
            return nil
        }
    }

    func row(
        of node: NSIncrementalStoreNode, _ identifier: NSManagedObjectID, for asking: NSManagedObjectContext
    ) throws -> Row {
        let former = unfinished.updateValue(node, forKey: identifier)
        defer { unfinished[identifier] = former }
        return try row(of: node, identifier) {
            try newValue(forRelationship: $0.description, forObjectWith: identifier, with: asking)
        }
    }

    /// A node as a row. `destination` gives the values of to-one relationships that the node leaves out.
    private func row(
        of node: NSIncrementalStoreNode, _ identifier: NSManagedObjectID,
        destination: (RelationshipLayout) throws -> Any?
    ) rethrows -> Row {
        let values = try identifier.layout.slots.map { slot -> StoredValue in
            if slot.isTransient { return .null }
            switch slot.kind {
            case .attribute(let attribute): return StoredValue(node.value(for: slot.description), for: attribute)
            case .toOne(let relationship):
                let value = try node.value(for: slot.description) ?? destination(relationship)
                return NodeValues.identifier(of: value).map(StoredValue.identifier) ?? .null
            }
        }
        return Row(objectID: identifier, version: node.rowVersion, values: ContiguousArray(values))
    }
}

/// The engine of stores that work with objects. It implements operations on many rows by operations on single objects.
final class ObjectStoreEngine: StoreEngine {
    // The store owns the engine.
    private unowned let store: any ObjectStore

    init(_ store: any ObjectStore) { self.store = store }

    func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> { try store.fetchRows(plan) }
    func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] { try store.fetchIdentifiers(plan) }
    func fetchCount(_ plan: FetchPlan) throws -> Int { try store.fetchCount(plan) }
    func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] { try store.fetchDictionaries(plan) }

    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try ContiguousArray(identifiers.compactMap { try store.row(for: $0) })
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] { try identifiers.map { try store.destinations(of: relationship, for: $0) } }

    func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool
    ) throws -> [NSManagedObjectID] { try store.makePermanentIdentifiers(for: entities) }

    func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        try others()
        return try store.add(changes)
    }
}

/// The values of one object in an incremental store.
open class NSIncrementalStoreNode: NSObject {
    /// The ID of the object.
    open private(set) var objectID: NSManagedObjectID
    /// The version of the values; a store increases it with every update of the object.
    open private(set) var version: UInt64
    private var values: [String: Any]

    /// Creates a node.
    ///
    /// - Parameters:
    ///   - objectID: an ID of the node's store.
    ///   - values: the attributes by name, and the to-one relationships, each as the ID of its destination or `NSNull`.
    ///     The store is asked for properties that are left out.
    ///   - version: the version of the values.
    public init(objectID: NSManagedObjectID, withValues values: [String: Any], version: UInt64) {
        self.objectID = objectID
        self.values = values
        self.version = version
        super.init()
    }

    /// Takes the values of a new version; properties that are left out keep their values.
    ///
    /// - Parameters:
    ///   - values: values by property name, in the form that the initializer takes.
    ///   - version: the version of the values.
    open func update(withValues values: [String: Any], version: UInt64) {
        self.values.merge(values) { $1 }
        self.version = version
    }

    /// The value of a property; `nil` if the node has none.
    ///
    /// - Parameter prop: an attribute or a to-one relationship.
    /// - Returns: the value; for a to-one relationship an ID.
    open func value(for prop: NSPropertyDescription) -> Any? { values[prop.name] }
}
