import Foundation

/// A conflict between an object and its row, which was changed or deleted by others.
open class NSMergeConflict: NSObject {
    /// The object that was to be saved.
    open var sourceObject: NSManagedObject { sides.object }
    /// The values with which the object was fetched.
    open var objectSnapshot: [String: Any]? { sides.objectSnapshot }
    /// The values that the coordinator's contexts last saved or fetched.
    ///
    /// Without a `persistedSnapshot`, the conflict is with another context of the coordinator, which saved these
    /// values.
    open var cachedSnapshot: [String: Any]? { sides.cachedSnapshot }
    /// The values that were written to the store outside the coordinator; `nil` if the row is gone, or if another
    /// context of the coordinator changed it.
    open var persistedSnapshot: [String: Any]? { sides.persistedSnapshot }
    /// The version of the store's row; 0 if it is gone.
    open var newVersionNumber: Int { sides.newVersion }
    /// The version with which the object was fetched.
    open var oldVersionNumber: Int { sides.oldVersion }
    let current: Row?

    /// What the members say, which subclasses that stand in for a conflict in tests override.
    private struct Sides {
        let object: NSManagedObject
        let newVersion: Int
        let oldVersion: Int
        let objectSnapshot: [String: Any]?
        let cachedSnapshot: [String: Any]?
        let persistedSnapshot: [String: Any]?
    }

    private let sides: Sides

    /// Creates a conflict, for testing merge policies.
    ///
    /// - Parameters:
    ///   - srcObject: the object that was to be saved.
    ///   - newvers: the version of the row in the store; 0 if it is gone.
    ///   - oldvers: the version with which the object was fetched.
    ///   - cachesnap: the values that the coordinator's contexts last saved or fetched.
    ///   - persnap: the values that were written outside the coordinator; `nil` if there are none, or the row is gone.
    public init(
        source srcObject: NSManagedObject, newVersion newvers: Int, oldVersion oldvers: Int,
        cachedSnapshot cachesnap: [String: Any]?, persistedSnapshot persnap: [String: Any]?
    ) {
        sides = Sides(
            object: srcObject, newVersion: newvers, oldVersion: oldvers,
            objectSnapshot: srcObject.snapshotValues(srcObject.snapshot), cachedSnapshot: cachesnap,
            persistedSnapshot: persnap)
        current = nil
    }

    /// A conflict found by a save.
    ///
    /// - Parameters:
    ///   - object: the object that was to be saved.
    ///   - current: the store's row; `nil` if it is gone.
    ///   - isInternal: whether a context of the same coordinator changed the row.
    init(_ object: NSManagedObject, current: Row?, isInternal: Bool) {
        let found = current.map { object.snapshotValues($0.values) }
        let fetched = object.snapshotValues(object.snapshot)
        sides = Sides(
            object: object, newVersion: Int(current?.version ?? 0), oldVersion: Int(object.version),
            objectSnapshot: fetched, cachedSnapshot: isInternal ? found : fetched,
            persistedSnapshot: isInternal ? nil : found)
        self.current = current
    }

    /// The object, both versions and what is known of their values.
    open override var description: String {
        let known = [
            ("old object snapshot", objectSnapshot), ("new cached row", cachedSnapshot),
            ("new database row", persistedSnapshot),
        ].compactMap { name, values in values.map { " and \(name) = \($0)" } }
        return "NSMergeConflict for \(sourceObject.entity.name ?? "") with objectID '\(sourceObject.objectID)' with "
            + "oldVersion = \(oldVersionNumber) and newVersion = \(newVersionNumber)\(known.joined())"
    }

    func resolve(_ type: NSMergePolicyType) {
        let object = sourceObject
        guard let context = object.managedObjectContext else { return }
        guard let current else {
            switch type {
            case .overwriteMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType:
                guard !object.isDeleted else { return context.forgetDeleted(object) }
                // The object's values become a new row with the old key.
                object.state.insert(.inserted)
                object.state.remove(.updated)
                // Beyond the versions that others may have saved before one of them deleted it.
                object.version &+= 1000
            case .rollbackMergePolicyType, .mergeByPropertyStoreTrumpMergePolicyType, .errorMergePolicyType:
                context.forgetDeleted(object)
            }
            return
        }
        // Somebody else has inserted the object again: its values are changes of that row.
        if type != .errorMergePolicyType, object.state.contains(.inserted) {
            object.state.remove(.inserted)
            object.state.insert(.updated)
        }
        switch type {
        case .errorMergePolicyType: return
        case .rollbackMergePolicyType:
            context.withdraw(object)
            object.updatingInverses { object.adopt(current, keepingChanges: false) }
        case .overwriteMergePolicyType:
            object.snapshot = current.values
            object.version = current.version
            object.refreshToManys()
        case .mergeByPropertyObjectTrumpMergePolicyType:
            if object.isDeleted {
                object.version = current.version
            } else {
                object.updatingInverses(keepsChanges: true) { object.adopt(current, keepingChanges: true) }
                object.refreshToManys()
            }
        case .mergeByPropertyStoreTrumpMergePolicyType:
            if object.isDeleted {
                object.version = current.version
            } else {
                object.updatingInverses(keepsChanges: true) { object.adopt(current, keepingChangesWhereSame: true) }
                object.refreshToManys()
            }
        }
        context.awake(object, from: .mergePolicy)
    }
}

extension NSManagedObject {
    /// Values by key, for the snapshots of conflicts.
    final func snapshotValues(_ values: ContiguousArray<StoredValue>) -> [String: Any] {
        guard values.count == layout.slots.count else { return [:] }
        var result: [String: Any] = [:]
        for (slot, description) in layout.slots.enumerated() {
            switch description.kind {
            case .attribute(let attribute):
                result[description.name] = values[slot].objectValue(for: attribute) ?? NSNull()
            case .toOne:
                if case .identifier(let identifier) = values[slot] {
                    result[description.name] = identifier
                } else {
                    result[description.name] = NSNull()
                }
            }
        }
        return result
    }

    /// Takes a row's values, except for properties that were changed here and not in the row.
    final func adopt(_ row: Row, keepingChangesWhereSame: Bool) {
        var merged = row.values
        for slot in changedSlots() where row.values[slot] == snapshot[slot] { merged[slot] = values[slot] }
        for slot in layout.slots.indices where layout.slots[slot].isTransient { merged[slot] = values[slot] }
        notifyingObservers(of: merged) { [self] in
            for relationship in layout.toOnes
            where !relations.isEmpty && merged[relationship.slot] != values[relationship.slot] {
                relations[relationship.index] = .unresolved
            }
            values = merged
            snapshot = row.values
            version = row.version
        }
    }
}

extension NSManagedObjectContext {
    /// Forgets an object whose row is gone, since nothing is left to save.
    func forgetDeleted(_ object: NSManagedObject) {
        // Observers know of a deletion that was made here.
        if !object.isDeleted || object.state.contains(.deletedInEvent) { event.removed.append(object) }
        saving.replaced.append(object)
        withdraw(object)
        forget(object)
    }
}
