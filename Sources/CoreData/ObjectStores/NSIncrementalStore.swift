import Foundation

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
