/// A context's merge of what others saved, and who follows it.
struct MergeState {
    /// The faults concerned by the merge that is being announced.
    var faults: [NSManagedObject] = []
    var followers = MergeFollowers()

    /// Forgets the objects of a merge, for a context that forgets all. Followers stay.
    mutating func reset() { faults = [] }
}
