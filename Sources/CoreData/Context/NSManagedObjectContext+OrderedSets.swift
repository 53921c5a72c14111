import Foundation

// Code that changes an ordered relationship usually calls `mutableOrderedSetValue(forKey:)` again for each member.
// Creating the set copies all members, so the sets used last are kept until changes are processed. They refer only to
// objects that have changes anyway.
extension NSManagedObjectContext {
    /// A recently used ordered set of a changed relationship.
    func kept(of object: NSManagedObject, _ relationship: RelationshipLayout) -> MutableRelationshipOrderedSet? {
        guard
            let set = event.orderedSets.last(where: { $0.object === object && $0.relationship === relationship })
        else { return nil }
        set.bringUpToDate()
        return set
    }

    /// Keeps an ordered set by which a relationship was changed.
    func keep(_ set: MutableRelationshipOrderedSet) { event.keep(set) }
}
