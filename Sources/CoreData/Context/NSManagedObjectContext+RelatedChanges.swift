import Foundation
import PredicateFormat

// Unsaved changes of objects that a predicate reads by a relationship. A fetch evaluates its predicate in memory for
// the objects that have changes themselves, as Core Data does; for all others the stores decide, which know nothing of
// changes of related objects.
extension NSManagedObjectContext {
    /// A predicate that selects what another one selects if unsaved changes of related objects count, too.
    ///
    /// Objects that lead to changed ones are fetched, and the predicate is evaluated with them; for the others it goes
    /// to the stores: `(predicate AND NOT buyer IN {changed}) OR SELF IN {matches}`.
    ///
    /// - Parameters:
    ///   - predicate: the predicate.
    ///   - name: the name of the entity whose objects it selects.
    /// - Returns: the predicate; the same one if no change that it depends on is unsaved.
    /// - Throws: the errors that fetching throws.
    package func seeingRelatedChanges(_ predicate: NSPredicate, of name: String) throws -> NSPredicate {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
        request.predicate = predicate
        let layout = try entity(of: request)
        processDeletions()
        guard !changed.isEmpty, let read = plan(for: request, layout).predicate, let tree = try? predicateTree(of: read)
        else { return predicate }
        let related = RelatedReads(of: tree, from: layout)
        var parts: [NSPredicate] = []
        for read in related.reads {
            let objects = outdatedObjects(of: read.entity, reading: read.key)
            guard !objects.isEmpty else { continue }
            let format = read.isToMany ? "ANY %K IN %@" : "%K IN %@"
            parts.append(NSPredicate(format: format, argumentArray: [read.path.joined(separator: "."), objects]))
        }
        if parts.isEmpty && related.isComplete { return predicate }
        let affected = related.isComplete ? NSCompoundPredicate(orPredicateWithSubpredicates: parts) : nil
        request.predicate = affected
        let matches = try StoreError.evaluating {
            let matches = Self.test(read)
            return try fetch(request).compactMap { $0 as? NSManagedObject }.filter(matches)
        }
        let selected = NSPredicate(format: "SELF IN %@", argumentArray: [matches])
        guard let affected else { return selected }
        let others = NSCompoundPredicate(andPredicateWithSubpredicates: [
            predicate, NSCompoundPredicate(notPredicateWithSubpredicate: affected),
        ])
        return NSCompoundPredicate(orPredicateWithSubpredicates: [others, selected])
    }

    /// Whether stores have former values of an entity's attribute.
    ///
    /// - Parameters:
    ///   - name: the entity's name.
    ///   - key: the attribute's name.
    /// - Returns: whether an object that stores may have was deleted, or has another value.
    /// - Throws: an error for an unknown entity.
    package func hasOutdatedValues(of name: String, for key: String) throws -> Bool {
        let layout = try entity(of: NSFetchRequest<any NSFetchRequestResult>(entityName: name))
        processDeletions()
        return !outdatedObjects(of: layout, reading: key).isEmpty
    }

    /// The changed and deleted objects of an entity that stores may have, without those for which an attribute has the
    /// stores' value.
    private func outdatedObjects(of layout: EntityLayout, reading key: String) -> [NSManagedObject] {
        var plan = FetchPlan(entity: layout)
        plan.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return changedObjects(of: plan).filter { !$0.state.contains(.inserted) }
    }
}
