import Foundation
import PredicateFormat
import Synchronization

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
