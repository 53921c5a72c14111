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
