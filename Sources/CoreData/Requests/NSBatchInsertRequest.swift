import Foundation

/// The content of a batch insertion's result.
public enum NSBatchInsertRequestResultType: UInt, Sendable {
    /// Whether it succeeded.
    case statusOnly = 0
    /// The IDs of the inserted objects.
    case objectIDs = 1
    /// The number of inserted objects.
    case count = 2
}

/// Inserts many rows directly into the store, in one transaction: `INSERT INTO ZQUAKE (Z_PK, Z_ENT, Z_OPT, …) VALUES
/// (?, …)`.
///
/// Attributes without a value get their defaults. Nothing is validated. If a row's unique values exist already, the
/// context's merge policy decides: if it lets the object win, the existing row takes the given values (`… ON CONFLICT
/// DO UPDATE SET …`); if it lets the store win, the existing row stays; otherwise the request fails. No context is
/// informed: pass the IDs to `NSManagedObjectContext.mergeChanges(fromRemoteContextSave:into:)`.
open class NSBatchInsertRequest: NSPersistentStoreRequest {
    private let name: String
    private let storedEntity: NSEntityDescription?

    /// Creates a request without an entity, which cannot be run.
    public convenience override init() { self.init(name: "", entity: nil) }

    private init(name: String, entity: NSEntityDescription?) {
        self.name = name
        storedEntity = entity
        super.init()
    }

    /// Creates a request that inserts an object for each dictionary.
    ///
    /// - Parameters:
    ///   - entityName: an entity of the context's model.
    ///   - dictionaries: values by attribute name; other keys are ignored.
    public convenience init(entityName: String, objects dictionaries: [[String: Any]]) {
        self.init(name: entityName, entity: nil)
        objectsToInsert = dictionaries
    }

    /// Creates a request that inserts an object for each dictionary.
    ///
    /// - Parameters:
    ///   - entity: an entity of the model of the context that runs the request.
    ///   - dictionaries: values by attribute name; other keys are ignored.
    public convenience init(entity: NSEntityDescription, objects dictionaries: [[String: Any]]) {
        self.init(name: entity.name ?? "", entity: entity)
        objectsToInsert = dictionaries
    }

    /// Creates a request that asks for each object's values as they are needed.
    ///
    /// - Parameters:
    ///   - entityName: an entity of the context's model.
    ///   - handler: puts values into an empty dictionary, by attribute name. It returns `true` if there are no more
    ///     objects; nothing is inserted for that call.
    public convenience init(entityName: String, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool) {
        self.init(name: entityName, entity: nil)
        dictionaryHandler = handler
    }

    /// Creates a request that asks for each object's values as they are needed.
    ///
    /// - Parameters:
    ///   - entity: an entity of the model of the context that runs the request.
    ///   - handler: puts values into an empty dictionary, by attribute name. It returns `true` if there are no more
    ///     objects; nothing is inserted for that call.
    public convenience init(
        entity: NSEntityDescription, dictionaryHandler handler: @escaping (NSMutableDictionary) -> Bool
    ) {
        self.init(name: entity.name ?? "", entity: entity)
        dictionaryHandler = handler
    }

    /// Creates a request whose handler sets the values of objects.
    ///
    /// - Parameters:
    ///   - entityName: an entity of the context's model.
    ///   - handler: sets the properties of an object of the entity's class, which is only valid during the call. It
    ///     returns `true` if there are no more objects; nothing is inserted for that call.
    public convenience init(entityName: String, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool) {
        self.init(name: entityName, entity: nil)
        managedObjectHandler = handler
    }

    /// Creates a request whose handler sets the values of objects.
    ///
    /// - Parameters:
    ///   - entity: an entity of the model of the context that runs the request.
    ///   - handler: sets the properties of an object of the entity's class, which is only valid during the call. It
    ///     returns `true` if there are no more objects; nothing is inserted for that call.
    public convenience init(
        entity: NSEntityDescription, managedObjectHandler handler: @escaping (NSManagedObject) -> Bool
    ) {
        self.init(name: entity.name ?? "", entity: entity)
        managedObjectHandler = handler
    }

    /// The name of the entity.
    open var entityName: String { name }

    /// The entity; `nil` for a request made with a name that no model in use has.
    open var entity: NSEntityDescription? { storedEntity ?? ManagedClasses.entity(named: name) }

    /// The objects' values by attribute name.
    open var objectsToInsert: [[String: Any]]?

    /// Provides the values of one object after the other.
    open var dictionaryHandler: ((NSMutableDictionary) -> Bool)?

    /// Sets the properties of one object after the other.
    open var managedObjectHandler: ((NSManagedObject) -> Bool)?

    /// The content of the result. The default is the status.
    open var resultType: NSBatchInsertRequestResultType = .statusOnly

    /// The kind of request.
    open override var requestType: NSPersistentStoreRequestType { .batchInsertRequestType }

    /// Returns a copy of the request.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy, which can be changed on its own.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSBatchInsertRequest(name: name, entity: storedEntity)
        copy.affectedStoreObjects = affectedStoreObjects
        copy.objectsToInsert = objectsToInsert
        copy.dictionaryHandler = dictionaryHandler
        copy.managedObjectHandler = managedObjectHandler
        copy.resultType = resultType
        return copy
    }
}

/// The result of a batch insertion.
open class NSBatchInsertResult: NSPersistentStoreResult {
    /// The IDs, the count (`Int`) or the status (`Bool`), depending on `resultType`.
    open var result: Any? { storedResult }
    /// The kind of `result`.
    open var resultType: NSBatchInsertRequestResultType { storedType }

    private let storedResult: Any?
    private let storedType: NSBatchInsertRequestResultType

    /// Creates a result without content, for subclasses that stand in for one in tests.
    public override init() { (storedResult, storedType) = (nil, .statusOnly) }

    package init(result: Any?, resultType: NSBatchInsertRequestResultType) {
        storedResult = result
        storedType = resultType
    }
}
