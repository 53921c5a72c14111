import Foundation

/// How a conflict between a context and its stores is resolved. The raw values are Apple's.
public enum NSMergePolicyType: UInt, Sendable {
    /// The save fails.
    case errorMergePolicyType = 0
    /// Property by property; if both sides changed one, the store wins.
    case mergeByPropertyStoreTrumpMergePolicyType = 1
    /// Property by property; if both sides changed one, the context wins.
    case mergeByPropertyObjectTrumpMergePolicyType = 2
    /// The context's objects win as a whole.
    case overwriteMergePolicyType = 3
    /// The store's rows win as a whole.
    case rollbackMergePolicyType = 4
}

/// A way to resolve conflicts when a context is saved: with rows that others changed, and with values that must be
/// unique.
///
/// Subclasses can inspect the conflicts and call `super` to resolve them.
open class NSMergePolicy: NSObject, @unchecked Sendable {
    // @unchecked Sendable: immutable.

    /// How conflicts are resolved.
    open var mergeType: NSMergePolicyType { type }
    private let type: NSMergePolicyType

    /// Creates a policy.
    ///
    /// - Parameter ty: how conflicts are resolved.
    public init(merge ty: NSMergePolicyType) {
        type = ty
        super.init()
    }

    /// The save fails. The default.
    public static let error = NSMergePolicy(merge: .errorMergePolicyType)
    /// The store's rows win as a whole.
    public static let rollback = NSMergePolicy(merge: .rollbackMergePolicyType)
    /// The context's objects win as a whole.
    public static let overwrite = NSMergePolicy(merge: .overwriteMergePolicyType)
    /// Property by property; if both sides changed one, the context wins.
    public static let mergeByPropertyObjectTrump = NSMergePolicy(merge: .mergeByPropertyObjectTrumpMergePolicyType)
    /// Property by property; if both sides changed one, the store wins.
    public static let mergeByPropertyStoreTrump = NSMergePolicy(merge: .mergeByPropertyStoreTrumpMergePolicyType)

    /// Resolves conflicts of either kind.
    ///
    /// - Parameter list: `NSMergeConflict`s, or `NSConstraintConflict`s.
    /// - Throws: `NSManagedObjectMergeError` or `NSManagedObjectConstraintMergeError` if the policy is to fail, with
    ///   the conflicts under `NSPersistentStoreSaveConflictsErrorKey` and the IDs of the objects under
    ///   `NSInsertedObjectsKey` and `NSUpdatedObjectsKey`.
    open func resolve(mergeConflicts list: [Any]) throws {
        let versions = list.compactMap { $0 as? NSMergeConflict }
        if !versions.isEmpty { try resolve(optimisticLockingConflicts: versions) }
        let constraints = list.compactMap { $0 as? NSConstraintConflict }
        if !constraints.isEmpty { try resolve(constraintConflicts: constraints) }
    }

    /// Resolves conflicts with rows that others changed or deleted.
    ///
    /// - Parameter list: one conflict for each object.
    /// - Throws: `NSManagedObjectMergeError` if the policy is to fail.
    open func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        guard mergeType != .errorMergePolicyType else {
            throw Self.failure(
                CoreDataErrorCode.managedObjectMerge, list, list.map(\.sourceObject), Self.summary(of: list))
        }
        for conflict in list { conflict.resolve(mergeType) }
    }

    /// Resolves conflicts of values that must be unique.
    ///
    /// - Parameter list: one conflict for each combination of values that several objects share.
    /// - Throws: `NSManagedObjectConstraintMergeError` if the policy is to fail.
    open func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        guard mergeType != .errorMergePolicyType else {
            throw Self.failure(
                CoreDataErrorCode.managedObjectConstraintMerge, list, list.flatMap(\.conflictingObjects),
                Self.summary(of: list))
        }
        for conflict in list { conflict.resolve(mergeType) }
    }

    private static func failure(
        _ code: Int, _ conflicts: [Any], _ objects: [NSManagedObject], _ description: String
    ) -> NSError {
        var info: [String: Any] = [
            NSLocalizedDescriptionKey: description, NSPersistentStoreSaveConflictsErrorKey: conflicts,
        ]
        let (inserted, updated) = (objects.filter(\.isUnsavedInsertion), objects.filter { !$0.isUnsavedInsertion })
        if !inserted.isEmpty { info[NSInsertedObjectsKey] = inserted.map(\.objectID) }
        if !updated.isEmpty { info[NSUpdatedObjectsKey] = updated.map(\.objectID) }
        return NSError(domain: NSCocoaErrorDomain, code: code, userInfo: info)
    }

    private static func summary(of conflicts: [NSMergeConflict]) -> String {
        let names = conflicts.prefix(3).map { conflict in
            "\(conflict.sourceObject.objectID.description) "
                + (conflict.newVersionNumber == 0 ? "was deleted" : "was changed") + " by somebody else"
        }
        return "Could not merge changes: \(names.joined(separator: ", "))\(conflicts.count > 3 ? " …" : "")."
    }

    private static func summary(of conflicts: [NSConstraintConflict]) -> String {
        let names = conflicts.prefix(3).map { conflict in
            let entity = conflict.conflictingObjects.first?.entity.name ?? ""
            let values = conflict.constraint.map { "\($0) = \(conflict.constraintValues[$0] ?? "nil")" }
            return "\(entity) with \(values.joined(separator: ", "))"
        }
        return "There would be more than one \(names.joined(separator: "; "))\(conflicts.count > 3 ? " …" : ""). "
            + "Change the values, or set the context's mergePolicy."
    }
}

/// The merge policy under which a save with conflicts fails.
public var NSErrorMergePolicy: AnyObject { NSMergePolicy.error }
/// The merge policy under which the store's rows win as a whole.
public var NSRollbackMergePolicy: AnyObject { NSMergePolicy.rollback }
/// The merge policy under which the context's objects win as a whole.
public var NSOverwriteMergePolicy: AnyObject { NSMergePolicy.overwrite }
/// The merge policy under which, property by property, the context wins.
public var NSMergeByPropertyObjectTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyObjectTrump }
/// The merge policy under which, property by property, the store wins.
public var NSMergeByPropertyStoreTrumpMergePolicy: AnyObject { NSMergePolicy.mergeByPropertyStoreTrump }

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
