import Foundation
import PredicateFormat
import Synchronization

/// The permanent IDs of objects that had temporary ones.
///
/// A program, or a child context, may still hold the temporary ID of an object that has since been saved. Without these
/// records, nothing would be found by that ID, and values set on a fault with it would be lost.
///
/// Objects that were made consecutively, and got consecutive keys, share an entry. The oldest entries are dropped, so
/// that memory does not grow in a context that makes objects for days.
struct FormerIdentifiers: ~Copyable {
    private struct Run {
        /// The number of the first temporary ID.
        let number: Int64
        var count: Int64
        /// The first permanent ID.
        let identifier: NSManagedObjectID
    }

    private var runs: [Run] = []
    private static let limit = 4096

    /// Records an object that has just got a permanent ID.
    mutating func note(_ identity: ObjectIdentity, formerly number: Int64) {
        if let last = runs.last, last.number + last.count == number, last.identifier.key + last.count == identity.key,
            last.identifier.reference == nil, identity.identifier?.reference == nil,
            identity.layout.toOpaque() == Unmanaged.passUnretained(last.identifier.layout).toOpaque(),
            identity.tag == last.identifier.tableTag
        {
            runs[runs.count - 1].count += 1
            return
        }
        if runs.count >= Self.limit { runs.removeFirst(Self.limit / 2) }
        runs.append(Run(number: number, count: 1, identifier: identity.objectID))
    }

    var isEmpty: Bool { runs.isEmpty }

    /// The permanent ID of an object, by the number of its temporary one; `nil` if it is not recorded.
    func current(ofTemporary number: Int64) -> NSManagedObjectID? {
        guard let run = runs.last(where: { $0.number <= number && number - $0.number < $0.count }) else { return nil }
        let first = run.identifier
        guard number > run.number, let store = first.storeIdentity else { return first }
        return NSManagedObjectID(layout: first.layout, store: store, key: first.key + (number - run.number))
    }
}

extension NSManagedObjectContext {
    /// A predicate with the permanent IDs of objects that had temporary ones, in place of these: a store knows no
    /// temporary ID, and the object does not equal it any more.
    func withCurrentIdentifiers(_ predicate: NSPredicate) -> NSPredicate {
        guard hasFormerIdentifiers else { return predicate }
        return predicate.replacingObjects { object in
            guard let identifier = object as? NSManagedObjectID, identifier.isTemporaryID else { return nil }
            let current = localIdentifier(identifier)
            return current === identifier ? nil : current
        }
    }

    /// The same for the predicates of a plan, which may be a child's.
    func planWithCurrentIdentifiers(_ plan: FetchPlan) -> FetchPlan {
        var current = plan
        current.predicate = plan.predicate.map(withCurrentIdentifiers)
        current.having = plan.having.map(withCurrentIdentifiers)
        return current
    }

    /// Whether this context or one above has saved objects that had temporary IDs.
    private var hasFormerIdentifiers: Bool {
        var context: NSManagedObjectContext? = self
        while let asked = context {
            if !asked.formerIdentifiers.withLock({ $0.isEmpty }) { return true }
            context = asked.parentSource?.parent
        }
        return false
    }
}

extension NSPredicate {
    /// Whether the predicate compares with temporary IDs, which a save replaces.
    var namesTemporaryIdentifiers: Bool {
        var isFound = false
        _ = replacingObjects { object in
            if let identifier = object as? NSManagedObjectID, identifier.isTemporaryID { isFound = true }
            return nil
        }
        return isFound
    }
}
