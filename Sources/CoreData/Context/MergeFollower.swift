/// An observer that lists objects of a context, such as a fetched results controller, and needs all changes of a merge,
/// including those to objects that are not registered.
protocol MergeFollower: AnyObject {
    /// Whether it may list objects of an entity.
    func lists(_ layout: EntityLayout) -> Bool

    /// The objects to list among those that others have changed and that are not registered here.
    ///
    /// - Parameter identifiers: their IDs, of any entity.
    /// - Returns: the objects.
    func arrivals(among identifiers: [NSManagedObjectID]) -> [NSManagedObject]
}

/// The followers of a context, which does not keep them alive.
struct MergeFollowers {
    private struct Reference { weak var follower: (any MergeFollower)? }
    private var references: [Reference] = []
    /// How many references there are when those of released followers are next removed.
    private var limit = 16

    var all: [any MergeFollower] { references.compactMap(\.follower) }

    mutating func add(_ follower: any MergeFollower) {
        if references.count >= limit {
            references.removeAll { $0.follower == nil }
            limit = max(16, 2 * references.count)
        }
        references.append(Reference(follower: follower))
    }
}

extension NSManagedObjectContext {
    /// Reads the objects that followers evaluate when a merge is announced, in sets rather than one by one.
    ///
    /// - Parameters:
    ///   - inserted: the faults of objects that others have inserted.
    ///   - unregistered: objects that others have changed, and that are not registered here.
    ///   - source: the source to read from.
    /// - Returns: the inserted objects that were deleted since, which followers would list for ever.
    func prepareFollowers(
        for inserted: [NSManagedObject], unregistered: [NSManagedObjectID], from source: any RowSource
    ) -> IdentitySet {
        let all = merging.followers.all
        guard !all.isEmpty else { return [] }
        if !unregistered.isEmpty {
            var arrived: IdentitySet = []
            for follower in all {
                for object in follower.arrivals(among: unregistered) where keeps(object) && arrived.insert(object) {
                    merging.faults.append(object)
                }
            }
        }
        let missing = (inserted + merging.faults).filter { object in
            keeps(object) && object.isFault && !object.state.contains(.valuesPending)
                && all.contains { $0.lists(object.layout) }
        }
        // If this fails, each object reads its own row, and reports the error.
        guard !missing.isEmpty, let rows = try? source.rows(for: missing.map(\.identifier)) else { return [] }
        let stamp = source.generation
        for row in rows { _ = object(for: row, asFault: true, refreshing: false, stamp: stamp) }
        guard rows.count < missing.count else { return [] }
        return IdentitySet(missing.filter { $0.isFault && !$0.state.contains(.valuesPending) })
    }
}
