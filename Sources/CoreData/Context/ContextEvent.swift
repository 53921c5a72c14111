/// What has happened in a context since changes were last processed: what the next notification reports, and what undo
/// restores.
struct ContextEvent {
    /// Objects that were inserted, changed or deleted. Those whose states no longer say so are not reported.
    private(set) var objects: ContiguousArray<NSManagedObject> = []
    /// Objects that took new values from the store.
    var refreshed: [NSManagedObject] = []
    /// Objects that left the context, or whose rows were found to be gone. They are reported as deleted.
    var removed: [NSManagedObject] = []
    /// The state of objects before the event, if there is an undo manager.
    var mementos: [ObjectMemento] = []
    /// The ordered sets by which relationships were changed, the latest last.
    private(set) var orderedSets: [MutableRelationshipOrderedSet] = []
    /// The values before the event, for objects that earlier events had already changed.
    private var formerValues: [ObjectIdentifier: FormerValues] = [:]
    /// The same of the event whose notification is being posted.
    private var postedValues: [ObjectIdentifier: FormerValues] = [:]

    /// Whether there is anything to report.
    var hasNews: Bool { !objects.isEmpty || !refreshed.isEmpty || !removed.isEmpty }

    /// Adds an object at its first change.
    @inline(__always)
    mutating func add(_ object: NSManagedObject) { objects.append(object) }

    /// Removes an object that is being made.
    mutating func remove(_ object: NSManagedObject) { objects.removeAll { $0 === object } }

    // MARK: Former values

    /// Keeps an object's values before its first change, if earlier events had already changed it: the committed ones
    /// are not those before this event then.
    @inline(__always)
    mutating func keepFormerValues(of object: NSManagedObject) {
        if !object.state.isDisjoint(with: .anyChange) { keepFormer(object) }
    }

    @inline(never)
    private mutating func keepFormer(_ object: NSManagedObject) {
        formerValues[ObjectIdentifier(object)] = FormerValues(of: object)
    }

    /// The values that an object had before the event, or before the one that is being posted; `nil` if they are the
    /// committed ones.
    func formerValues(of object: NSManagedObject) -> FormerValues? {
        formerValues[ObjectIdentifier(object)] ?? postedValues[ObjectIdentifier(object)]
    }

    /// Forgets the former values of an object whose changes are withdrawn.
    mutating func forgetFormerValues(of object: NSManagedObject) {
        if !formerValues.isEmpty { formerValues[ObjectIdentifier(object)] = nil }
        if !postedValues.isEmpty { postedValues[ObjectIdentifier(object)] = nil }
    }

    // MARK: Ordered sets

    private static let keptOrderedSets = 16

    mutating func keep(_ set: MutableRelationshipOrderedSet) {
        if orderedSets.last === set || orderedSets.contains(where: { $0 === set }) { return }
        if orderedSets.count == Self.keptOrderedSets { orderedSets.removeFirst() }
        orderedSets.append(set)
    }

    mutating func forgetOrderedSets() { if !orderedSets.isEmpty { orderedSets = [] } }

    // MARK: The end

    /// Ends the event, and begins the next one. Former values can be asked for until `didPost(_:)`.
    ///
    /// - Returns: what is to be reported.
    mutating func end() -> ContextEvent {
        var ended = ContextEvent()
        swap(&ended.objects, &objects)
        swap(&ended.refreshed, &refreshed)
        swap(&ended.removed, &removed)
        // An observer of another event's notification may process changes: that event goes on being posted afterwards.
        swap(&ended.postedValues, &postedValues)
        swap(&postedValues, &formerValues)
        return ended
    }

    /// Forgets the values before an event that was posted.
    mutating func didPost(_ ended: ContextEvent) { postedValues = ended.postedValues }

    /// Discards the changes of the event, which are not made then, and begins the next one.
    ///
    /// - Returns: the objects that have left the context, or were read again, all the same.
    mutating func discard() -> (removed: [NSManagedObject], refreshed: [NSManagedObject]) {
        for object in objects { object.state.remove(.anyEvent) }
        let discarded = (removed, refreshed)
        let posted = postedValues
        self = ContextEvent()
        postedValues = posted
        return discarded
    }

    /// Discards the changes of one object.
    mutating func discardChanges(of object: NSManagedObject) {
        guard !object.state.isDisjoint(with: .anyEvent) else { return }
        object.state.remove(.anyEvent)
        forgetFormerValues(of: object)
        mementos.removeAll { $0.object === object }
    }

    /// Forgets the objects, and keeps the memory for others.
    mutating func forgetObjects() { objects.removeAll(keepingCapacity: true) }
}
