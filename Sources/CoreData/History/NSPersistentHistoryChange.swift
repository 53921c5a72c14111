import Foundation

/// What happened to an object in a transaction. The raw values are Apple's, and those of `ACHANGE.ZCHANGETYPE`.
public enum NSPersistentHistoryChangeType: Int, Sendable {
    /// It was inserted.
    case insert = 0
    /// Properties of it were changed.
    case update = 1
    /// It was deleted.
    case delete = 2
}

/// What happened to one object in one transaction of the history.
open class NSPersistentHistoryChange: NSObject, NSCopying, @unchecked Sendable {
    // @unchecked Sendable: immutable.

    private let row: HistoryChangeRow
    private let record: HistoryRecord?

    init(_ row: HistoryChangeRow, of record: HistoryRecord?) {
        self.row = row
        self.record = record
        super.init()
    }

    /// The number of the change, which grows within its store: `ACHANGE.Z_PK`.
    open var changeID: Int64 { row.number }
    /// The ID of the object.
    open var changedObjectID: NSManagedObjectID { row.objectID }
    /// What happened to it.
    open var changeType: NSPersistentHistoryChangeType {
        switch row.kind {
        case .insert: return .insert
        case .update: return .update
        case .delete: return .delete
        }
    }

    /// The transaction, `nil` where the request asked for changes only.
    open var transaction: NSPersistentHistoryTransaction? {
        record.map { NSPersistentHistoryTransaction($0, showsChanges: true) }
    }

    /// Of a deletion, the values of the attributes with `preservesValueInHistoryOnDeletion`, by name; `nil` where the entity has
    /// none.
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

    /// Of an update, the properties that it changed; `nil` for others, and where the model that wrote it was another.
    open var updatedProperties: Set<NSPropertyDescription>? {
        guard let names = row.changedNames else { return nil }
        let properties = row.objectID.layout.description.propertiesByName
        return Set(names.compactMap { properties[$0] })
    }

    /// What predicates of a history request may ask changes for: `changedObjectID`, `changedEntity` (compared with an
    /// `NSEntityDescription`), `changeType` and `changeID`.
    open class var entityDescription: NSEntityDescription? { HistoryEntities.change() }

    /// The same as `entityDescription`, for code that has a context at hand.
    ///
    /// - Parameter context: not used: the entity is the same everywhere.
    /// - Returns: the entity.
    open class func entityDescription(with context: NSManagedObjectContext) -> NSEntityDescription? {
        entityDescription
    }

    /// A new request for changes, to restrict with a predicate and to give to a history request.
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
