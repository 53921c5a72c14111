import Foundation

// Code that changes an ordered relationship asks for its `mutableOrderedSetValue(forKey:)` anew for each member. Making one copies all
// members, so that those that were used last are kept until changes are processed. They hold objects that have changes anyway.
extension NSManagedObjectContext {
    private static let keptOrderedSets = 16

    /// The ordered set of a relationship that was changed by it a short time ago.
    func kept(of object: NSManagedObject, _ relationship: RelationshipLayout) -> MutableRelationshipOrderedSet? {
        guard
            let set = orderedSets.last(where: { $0.object === object && $0.relationship === relationship })
        else { return nil }
        set.bringUpToDate()
        return set
    }

    /// Keeps an ordered set by which a relationship was changed.
    func keep(_ set: MutableRelationshipOrderedSet) {
        if orderedSets.last === set || orderedSets.contains(where: { $0 === set }) { return }
        if orderedSets.count == Self.keptOrderedSets { orderedSets.removeFirst() }
        orderedSets.append(set)
    }
}
