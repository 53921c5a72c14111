import Foundation
import Synchronization

/// A description of a fetch: an entity, a predicate, an order, and the form of the results.
///
/// `ResultType` is the type of the results: a managed object class, `NSManagedObjectID`, `NSDictionary` or `NSNumber`,
/// or `any NSFetchRequestResult` for any of them.
open class NSFetchRequest<ResultType>: NSPersistentStoreRequest, FetchDescription {
    /// Creates a request without an entity.
    public override init() { super.init() }

    /// Creates a request for the objects of an entity, which is looked up in the context that runs the request.
    ///
    /// ```swift
    /// let request = NSFetchRequest<Person>(entityName: "Person")
    /// request.predicate = NSPredicate(format: "name BEGINSWITH %@", "A")
    /// request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    /// request.fetchLimit = 20
    /// ```
    ///
    /// - Parameter entityName: the name of the entity.
    public convenience init(entityName: String) {
        self.init()
        storedEntityName = entityName
    }

    private var storedEntityName: String?

    /// The entity whose objects are fetched. That of a request made with a name is `nil` until a context has used the
    /// request. The request of a fetched property does not keep it alive: it may be the property's own.
    open var entity: NSEntityDescription? {
        get { keptEntity.withLock { $0 } ?? entityLink?.entity }
        set {
            guard isOfProperty else { return keptEntity.withLock { $0 = newValue } }
            entityLink = newValue?.link
            storedEntityName = newValue?.name ?? storedEntityName
        }
    }

    /// A lock, because contexts of several queues may use one request at the same time, and each may set this.
    private let keptEntity = Mutex<NSEntityDescription?>(nil)
    private var entityLink: EntityLink?
    private var isOfProperty = false

    /// Called when the request becomes a fetched property's.
    func joinProperty() {
        guard !isOfProperty else { return }
        let entity = keptEntity.withLock { kept in
            defer { kept = nil }
            return kept
        }
        isOfProperty = true
        if let entity { self.entity = entity }
    }

    package func resolve(to entity: NSEntityDescription) {
        guard !isOfProperty else { return }
        keptEntity.withLock { $0 = $0 ?? entity }
    }

    /// The name of the entity.
    open var entityName: String? { entity?.name ?? storedEntityName }

    /// The condition on the objects; `nil` for all. A compound “and” predicate without parts is set to `nil`.
    open var predicate: NSPredicate? {
        didSet {
            guard let compound = predicate as? NSCompoundPredicate else { return }
            if compound.compoundPredicateType == .and, compound.subpredicates.isEmpty { predicate = nil }
        }
    }

    /// The order of the results; without any, the order is arbitrary.
    open var sortDescriptors: [NSSortDescriptor]?

    /// The largest number of results; 0 for all.
    open var fetchLimit = 0

    /// How many results to skip at the start.
    open var fetchOffset = 0

    /// How many objects to load at a time; 0 for all at once.
    open var fetchBatchSize = 0

    /// The form of the results. The default is managed objects.
    open var resultType: NSFetchRequestResultType = .managedObjectResultType

    /// Whether objects of subentities are fetched too. The default is `true`.
    open var includesSubentities = true

    /// Whether the values of the objects are loaded with their IDs. The default is `true`.
    open var includesPropertyValues = true

    /// Whether unsaved changes of the context are included. The default is `true`.
    open var includesPendingChanges = true

    /// Whether objects are returned as faults, which take their values when these are first read. The default is
    /// `true`.
    open var returnsObjectsAsFaults = true

    /// The relationships to load with the objects, as key paths.
    ///
    /// A key that is not a relationship of an object is skipped, as in Core Data.
    open var relationshipKeyPathsForPrefetching: [String]? = []

    /// The properties of a dictionary fetch (names or descriptions, including expressions). Names of the entity's
    /// properties are replaced by their descriptions.
    open var propertiesToFetch: [Any]? { didSet { propertiesToFetch = described(propertiesToFetch) } }

    /// The properties by which a dictionary fetch groups (names or descriptions). Names are replaced as in
    /// `propertiesToFetch`.
    open var propertiesToGroupBy: [Any]? { didSet { propertiesToGroupBy = described(propertiesToGroupBy) } }

    /// A list of properties, with descriptions for the names that the entity has.
    private func described(_ properties: [Any]?) -> [Any]? {
        guard let entity, let properties, properties.contains(where: { $0 is String }) else { return properties }
        let known = entity.propertiesByName
        return properties.map { property in (property as? String).flatMap { known[$0] } ?? property }
    }

    /// The condition on the groups of a dictionary fetch.
    open var havingPredicate: NSPredicate?

    /// Whether equal results of a dictionary fetch are returned only once.
    open var returnsDistinctResults = false

    /// Whether objects that the context already has take the store's values.
    open var shouldRefreshRefetchedObjects = false

    /// What Core Data prints of a request, for logs and debuggers.
    open override var description: String { describedRequest }

    /// Whether the other object is a request for the same: of the same entity, predicate, order and settings.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but an equal request; the type parameter is not compared.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? any FetchDescription else { return false }
        return other === self || asks(theSameAs: other)
    }

    /// A hash of the entity's name.
    open override var hash: Int { entityName.hashValue }

    /// Returns a copy of the request.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy, which can be changed on its own.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSFetchRequest<ResultType>()
        copy.take(from: self)
        return copy
    }

    package func take(from source: any FetchDescription) {
        affectedStoreObjects = source.affectedStoreObjects
        storedEntityName = source.entityName
        entity = source.entity
        predicate = source.predicate
        sortDescriptors = source.sortDescriptors
        fetchLimit = source.fetchLimit
        fetchOffset = source.fetchOffset
        fetchBatchSize = source.fetchBatchSize
        resultType = source.resultType
        includesSubentities = source.includesSubentities
        includesPropertyValues = source.includesPropertyValues
        includesPendingChanges = source.includesPendingChanges
        returnsObjectsAsFaults = source.returnsObjectsAsFaults
        relationshipKeyPathsForPrefetching = source.relationshipKeyPathsForPrefetching
        propertiesToFetch = source.propertiesToFetch
        propertiesToGroupBy = source.propertiesToGroupBy
        havingPredicate = source.havingPredicate
        returnsDistinctResults = source.returnsDistinctResults
        shouldRefreshRefetchedObjects = source.shouldRefreshRefetchedObjects
    }
}

/// A fetch request without its result type.
package protocol FetchDescription: NSPersistentStoreRequest, EntityRequest {
    var entity: NSEntityDescription? { get set }

    /// Gives a request made with a name the entity that a context has found for it.
    func resolve(to entity: NSEntityDescription)

    var predicate: NSPredicate? { get set }
    var sortDescriptors: [NSSortDescriptor]? { get set }
    var fetchLimit: Int { get set }
    var fetchOffset: Int { get set }
    var fetchBatchSize: Int { get set }
    var resultType: NSFetchRequestResultType { get set }
    var includesSubentities: Bool { get set }
    var includesPropertyValues: Bool { get set }
    var includesPendingChanges: Bool { get set }
    var returnsObjectsAsFaults: Bool { get set }
    var relationshipKeyPathsForPrefetching: [String]? { get set }
    var propertiesToFetch: [Any]? { get set }
    var propertiesToGroupBy: [Any]? { get set }
    var havingPredicate: NSPredicate? { get set }
    var returnsDistinctResults: Bool { get set }
    var shouldRefreshRefetchedObjects: Bool { get set }
}
