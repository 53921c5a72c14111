/// Who lists objects of a context, and wants to hear of all that a merge brings, held by anybody or not: a fetched results controller.
protocol MergeFollower: AnyObject {
    /// Whether objects of an entity may be listed.
    func lists(_ layout: EntityLayout) -> Bool

    /// The objects that are to be listed among those that nobody holds here, and others have changed.
    ///
    /// - Parameter identifiers: their IDs, of any entity.
    /// - Returns: the objects.
    func arrivals(among identifiers: [NSManagedObjectID]) -> [NSManagedObject]
}

/// The followers of a context, which it does not keep alive.
struct MergeFollowers {
    private struct Reference { weak var follower: (any MergeFollower)? }
    private var references: [Reference] = []

    var all: [any MergeFollower] { references.compactMap(\.follower) }

    mutating func add(_ follower: any MergeFollower) {
        references.removeAll { $0.follower == nil }
        references.append(Reference(follower: follower))
    }
}

extension NSManagedObjectContext {
    /// Gets what followers look at when a merge is announced, in sets: they evaluate each object that came or changed.
    ///
    /// - Parameters:
    ///   - inserted: the faults of what others have inserted.
    ///   - unheld: what others have changed, and is no object here.
    ///   - source: where to read.
    func prepareFollowers(
        for inserted: [NSManagedObject], unheld: [NSManagedObjectID], from source: any RowSource
    ) {
        let all = followers.all
        guard !all.isEmpty else { return }
        if !unheld.isEmpty {
            var arrived: IdentitySet = []
            for follower in all {
                for object in follower.arrivals(among: unheld) where arrived.insert(object) {
                    mergedFaults.append(object)
                }
            }
        }
        let missing = (inserted + mergedFaults).filter { object in
            object.isFault && !object.state.contains(.valuesPending) && all.contains { $0.lists(object.layout) }
        }
        // What cannot be read is read again for each object, and reported for that.
        guard missing.count > 1, let rows = try? source.rows(for: missing.map(\.identifier)) else { return }
        let stamp = source.generation
        for row in rows { _ = object(for: row, asFault: true, refreshing: false, stamp: stamp) }
    }
}
