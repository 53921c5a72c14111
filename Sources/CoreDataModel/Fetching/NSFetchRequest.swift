import Foundation
import PredicateFormat
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

extension FetchDescription {
    package func lead(to entity: NSEntityDescription) {
        guard self.entity !== entity else { return }
        let known = entity.propertiesByName
        func own(_ properties: [Any]?) -> [Any]? {
            properties?.map { property in
                guard let property = property as? NSPropertyDescription, property.owner != nil else { return property }
                return known[property.name] ?? property
            }
        }
        self.entity = entity
        propertiesToFetch = own(propertiesToFetch)
        propertiesToGroupBy = own(propertiesToGroupBy)
    }

    package var summary: String {
        func names(_ properties: [Any]?) -> [String]? {
            properties?.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
        }
        let parts: [Any?] = [
            entityName, predicate, sortDescriptors?.map { "\($0.key ?? "") \($0.ascending)" }, fetchLimit, fetchOffset,
            fetchBatchSize, resultType.rawValue, includesSubentities, includesPropertyValues, includesPendingChanges,
            returnsObjectsAsFaults, relationshipKeyPathsForPrefetching, names(propertiesToFetch),
            names(propertiesToGroupBy), havingPredicate, returnsDistinctResults, shouldRefreshRefetchedObjects,
        ]
        return parts.map { $0.map { "\($0)" } ?? "none" }.joined(separator: " | ")
    }
}

extension FetchDescription {
    /// Whether another request has the same entity, predicate, order and settings.
    func asks(theSameAs other: any FetchDescription) -> Bool {
        entityName == other.entityName && hasEntity(of: other) && predicate == other.predicate
            && sortDescriptors == other.sortDescriptors && resultType == other.resultType
            && fetchLimit == other.fetchLimit && fetchOffset == other.fetchOffset
            && fetchBatchSize == other.fetchBatchSize && includesSubentities == other.includesSubentities
            && includesPropertyValues == other.includesPropertyValues
            && includesPendingChanges == other.includesPendingChanges
            && returnsObjectsAsFaults == other.returnsObjectsAsFaults
            && relationshipKeyPathsForPrefetching == other.relationshipKeyPathsForPrefetching
            && Self.areEqual(propertiesToFetch, other.propertiesToFetch)
            && Self.areEqual(propertiesToGroupBy, other.propertiesToGroupBy)
            && havingPredicate == other.havingPredicate && returnsDistinctResults == other.returnsDistinctResults
            && shouldRefreshRefetchedObjects == other.shouldRefreshRefetchedObjects
            && affectedStoreObjects?.map(ObjectIdentifier.init)
                == other.affectedStoreObjects?.map(ObjectIdentifier.init)
    }

    /// A request by name finds its entity when it is executed, and is equal to one that has it already.
    private func hasEntity(of other: any FetchDescription) -> Bool {
        guard let entity, let otherEntity = other.entity else { return true }
        return entity == otherEntity
    }

    /// Lists of names and descriptions.
    private static func areEqual(_ one: [Any]?, _ other: [Any]?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return one.count == other.count
            && zip(one, other).allSatisfy { ($0 as? AnyHashable) == ($1 as? AnyHashable) }
    }
}

/// The types that a fetch request can return: managed objects, their IDs, dictionaries and numbers.
public protocol NSFetchRequestResult: NSObjectProtocol {}

extension NSManagedObjectID: NSFetchRequestResult {}
extension NSDictionary: NSFetchRequestResult {}
extension NSNumber: NSFetchRequestResult {}

/// The form of a fetch's results.
public struct NSFetchRequestResultType: OptionSet, Sendable {
    /// The raw value, as Apple numbers the types.
    public let rawValue: UInt
    /// Makes a type from its raw value.
    ///
    /// - Parameter rawValue: the bits of Core Data's constants.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// Managed objects.
    public static let managedObjectResultType: NSFetchRequestResultType = []
    /// IDs of managed objects.
    public static let managedObjectIDResultType = NSFetchRequestResultType(rawValue: 1)
    /// Dictionaries of the properties to fetch.
    public static let dictionaryResultType = NSFetchRequestResultType(rawValue: 2)
    /// The number of objects.
    public static let countResultType = NSFetchRequestResultType(rawValue: 4)
}

/// A property whose value is the result of a fetch request: a weak, one-way relationship.
///
/// In the request's predicate, `$FETCH_SOURCE` is the object that has the property and `$FETCHED_PROPERTY` this
/// description.
open class NSFetchedPropertyDescription: NSPropertyDescription {
    /// The request whose result is the property's value.
    open var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        willSet { willChangeDescription() }
        didSet { fetchRequest?.joinProperty() }
    }

    package override var request: (any EntityRequest)? { fetchRequest }

    package override func computes(theSameAs other: NSPropertyDescription) -> Bool {
        fetchRequest == (other as? NSFetchedPropertyDescription)?.fetchRequest
    }

    /// What Core Data prints of a fetched property, and its request, for logs and debuggers.
    open override var description: String {
        "\(describedProperty), fetchRequest \(DescriptionText.value(fetchRequest))"
    }

    package override func emptyCopy() -> NSPropertyDescription { NSFetchedPropertyDescription() }

    package override func copyContents(to copy: NSPropertyDescription) {
        super.copyContents(to: copy)
        (copy as? NSFetchedPropertyDescription)?.fetchRequest =
            fetchRequest?.copy() as? NSFetchRequest<any NSFetchRequestResult>
    }
}

extension NSPredicate {
    /// The predicate of a fetched property for one object. `$FETCH_SOURCE` is the object, `$FETCHED_PROPERTY` the
    /// description, and paths from either are replaced by their values, with which stores can compare.
    ///
    /// - Parameters:
    ///   - property: the description; predicates can use its `name` and `userInfo`.
    ///   - object: the object that has the property.
    /// - Returns: the predicate with the object's values in place of the variables.
    package func of(_ property: NSFetchedPropertyDescription, of object: any KeyedOperand) -> NSPredicate {
        guard let tree = try? predicateTree(of: self) else { return self }
        let description: [String: Any] = ["name": property.name, "userInfo": property.userInfo ?? [:]]
        let variables = ["FETCH_SOURCE": Value(object), "FETCHED_PROPERTY": Value(description)]
        return makePredicate(tree.replacingVariables(with: variables).mapExpressions(\.withConstantPartRead))
    }
}

/// The kind of a request to a store. The raw values are Apple's.
public enum NSPersistentStoreRequestType: UInt, Sendable {
    /// Fetch objects, IDs, dictionaries or a count.
    case fetchRequestType = 1
    /// Save changes.
    case saveRequestType = 2
    /// Insert rows without objects.
    case batchInsertRequestType = 5
    /// Update rows without objects.
    case batchUpdateRequestType = 6
    /// Delete rows without objects.
    case batchDeleteRequestType = 7
}

/// A request that a context sends to its stores: the common part of fetches, saves and batch changes.
open class NSPersistentStoreRequest: NSObject, NSCopying {
    /// The stores to ask; `nil` for all; see `affectedStores`.
    package var affectedStoreObjects: [AnyObject]?

    /// The kind of the request.
    open var requestType: NSPersistentStoreRequestType { .fetchRequestType }

    /// Creates a request; use one of the subclasses instead.
    public override init() { super.init() }

    /// Returns a copy of the request.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy, which can be changed on its own.
    open func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSPersistentStoreRequest()
        copy.affectedStoreObjects = affectedStoreObjects
        return copy
    }
}
