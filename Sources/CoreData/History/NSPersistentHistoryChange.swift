import Foundation

/// The kind of a change in a transaction. The raw values are Apple's, and those of `ACHANGE.ZCHANGETYPE`.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// The object was inserted.
    case insert = 0
    /// Properties of the object were changed.
    case update = 1
    /// The object was deleted.
    case delete = 2
}

/// A change of one object in one transaction of the history.
open class NSPersistentHistoryChange: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked Sendable: immutable.

    private let row: HistoryChangeRow
    private let record: HistoryRecord?

    init(_ row: HistoryChangeRow, of record: HistoryRecord?) {
        self.row = row
        self.record = record
        super.init()
    }

    /// The number of the change, which increases within its store: `ACHANGE.Z_PK`.
    open var changeID: Int64 { row.number }
    /// The ID of the object.
    open var changedObjectID: NSManagedObjectID { row.objectID }
    /// The kind of the change.
    open var changeType: NSPersistentHistoryChangeType {
        switch row.kind {
        case .insert: return .insert
        case .update: return .update
        case .delete: return .delete
        }
    }

    /// The transaction; `nil` if the request only asked for changes.
    open var transaction: NSPersistentHistoryTransaction? {
        record.map { NSPersistentHistoryTransaction($0, showsChanges: true) }
    }

    /// For a deletion, the values of the attributes with `preservesValueInHistoryOnDeletion`, by name; `nil` if the
    /// entity has none.
    open var tombstone: [AnyHashable: Any]? {
        guard let tombstone = row.tombstone else { return nil }
        var values: [AnyHashable: Any] = [:]
        for (name, value) in tombstone {
            guard let slot = row.objectID.layout.slotIndex(forName: name),
                let attribute = row.objectID.layout.slots[slot].attribute
            else { continue }
            values[name] = value.objectValue(for: attribute)
        }
        return values
    }

    /// For an update, the changed properties; `nil` for other changes, and if another version of the model wrote it.
    open var updatedProperties: Set<NSPropertyDescription>? {
        guard let names = row.changedNames else { return nil }
        let properties = row.objectID.layout.description.propertiesByName
        return Set(names.compactMap { properties[$0] })
    }

    /// The entity with the properties of changes that predicates of a history request can use: `changedObjectID`,
    /// `changedEntity` (compared with an `NSEntityDescription`), `changeType` and `changeID`.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.change() }

    /// The same as `entityDescription`, for code that has a context at hand.
    ///
    /// - Parameter context: not used: the entity is the same for all contexts.
    /// - Returns: the entity.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }

    /// A new request for changes, to which a predicate can be added before it is passed to a history request.
    open class var fetchRequest: NSFetchRequest<any NSFetchRequestResult>? {
        HistoryEntities.request(entityDescription)
    }

    /// Changes are immutable: the copy is the change itself.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the object itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether both are the same change of the same object.
    ///
    /// - Parameter object: what to compare with.
    /// - Returns: `false` for anything but the same change.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPersistentHistoryChange else { return false }
        return changeID == other.changeID && changedObjectID == other.changedObjectID
    }

    /// A hash of the change's number.
    open override var hash: Int { changeID.hashValue }
}

/// The entities of history requests. They belong to no model: each caller gets its own.
enum HistoryEntities {
    static let transactionName = "TRANSACTION"
    static let changeName = "CHANGE"

    static func transaction() -> NSEntityDescription {
        entity(
            transactionName,
            [
                ("author", .stringAttributeType), ("bundleID", .stringAttributeType),
                ("contextName", .stringAttributeType), ("processID", .stringAttributeType),
                ("storeID", .stringAttributeType), ("timestamp", .dateAttributeType),
                ("token", .integer64AttributeType), ("transactionNumber", .integer64AttributeType),
            ])
    }

    static func change() -> NSEntityDescription {
        entity(
            changeName,
            [
                ("changeID", .integer64AttributeType), ("changeType", .integer64AttributeType),
                ("changedEntity", .integer64AttributeType), ("changedID", .integer64AttributeType),
                ("changedObjectID", .objectIDAttributeType),
            ])
    }

    private static func entity(_ name: String, _ attributes: [(String, NSAttributeType)]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name, type in
            let attribute = NSAttributeDescription()
            attribute.name = name
            attribute.attributeType = type
            return attribute
        }
        return entity
    }

    static func request(_ entity: NSEntityDescription?) -> NSFetchRequest<any NSFetchRequestResult> {
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = entity
        return request
    }
}
