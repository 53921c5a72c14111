import PredicateFormat

/// The objects of a context with unsaved changes, in the order of their first change, and an index of them by value.
///
/// An object is listed once, and has the state `.listed` while it is. An object whose changes were withdrawn stays in
/// the list until `dropIdle()`: removing each at once would search the list each time.
struct ChangeList {
    private(set) var objects: ContiguousArray<NSManagedObject> = []
    /// How many of the objects no longer have changes.
    private var idleCount = 0
    /// The index, once fetches have scanned many objects; see `indexed(for:)`.
    private var byValue: PendingIndex?
    /// How many of the objects are indexed.
    private var indexedCount = 0
    /// How often the objects were scanned without the index.
    private var scanCount = 0
    /// What the changes add to the answers of repeated questions; nil while one is answered.
    private var summaries: ChangeSummaries? = ChangeSummaries()
    /// How many of the objects the summaries know of.
    private var summedCount = 0

    var isEmpty: Bool { objects.isEmpty }
    var count: Int { objects.count }

    // MARK: Listing

    /// Lists an object, unless it is listed already.
    @inline(__always)
    mutating func list(_ object: NSManagedObject) {
        if object.state.contains(.listed) { return }
        object.state.insert(.listed)
        objects.append(object)
    }

    /// Counts an object as one without changes. Called before its state loses them.
    mutating func willWithdraw(_ object: NSManagedObject) {
        guard object.state.contains(.listed), !object.state.isDisjoint(with: .anyChange) else { return }
        idleCount += 1
        sum(CollectionOfOne(object))
    }

    /// Removes the objects that no longer have changes.
    mutating func dropIdle() {
        // Done each time, since another context that takes such an object must not find it listed here.
        guard idleCount > 0 else { return }
        // From the end, where recent objects are: a program that alternately inserts and deletes then does not search
        // the whole array.
        var first = objects.count
        while idleCount > 0, first > 0 {
            first -= 1
            if objects[first].state.isDisjoint(with: .anyChange) { idleCount -= 1 }
        }
        idleCount = 0
        var end = first
        for position in first..<objects.count {
            let object = objects[position]
            if object.state.isDisjoint(with: .anyChange) {
                object.state.remove(.listed)
            } else {
                objects[end] = object
                end += 1
            }
        }
        if indexedCount == objects.count { indexedCount = end } else { indexedCount = min(indexedCount, first) }
        if summedCount == objects.count { summedCount = end } else { summedCount = min(summedCount, first) }
        objects.removeLast(objects.count - end)
    }

    /// Removes the objects that a save has written. Those that have changed since stay.
    mutating func removeSaved() {
        objects.removeAll { object in
            guard object.state.isDisjoint(with: .anyChange) || object.state.contains(.deleted) else { return false }
            object.state.remove(.listed)
            return true
        }
        dropIndex()
        idleCount = 0
    }

    /// Removes an object that is being made. It gets its state afterwards.
    mutating func remove(_ object: NSManagedObject) {
        objects.removeAll { $0 === object }
        dropIndex()
    }

    /// Removes all objects, and keeps the memory for others.
    mutating func unlistAll() {
        for object in objects { object.state.remove(.listed) }
        objects.removeAll(keepingCapacity: true)
        dropIndex()
        idleCount = 0
    }

    /// Removes and returns all objects. They lose the state `.listed` when the caller has dealt with them: until then,
    /// a change of one of them does not list it again.
    mutating func takeAll() -> ContiguousArray<NSManagedObject> {
        let all = objects
        self = ChangeList()
        return all
    }

    // MARK: The index

    /// The number of objects from which they are indexed.
    static let indexingCount = 64
    /// How often objects are scanned before indexing them is worthwhile.
    private static let scansBeforeIndex = 4

    /// What the index has for a plan.
    enum Indexed {
        /// None of the objects is of the plan's entities.
        case nothing
        /// The objects that the predicate may select, and how many of the plan's entities stores may have.
        case candidates(ContiguousArray<NSManagedObject>, storedCount: Int)
    }

    /// The objects that a plan may find, from the index, which is made if that is worthwhile.
    ///
    /// - Returns: `nil` if all objects have to be scanned.
    mutating func indexed(for plan: FetchPlan) -> Indexed? {
        guard count >= Self.indexingCount else { return nil }
        if byValue == nil {
            scanCount += 1
            guard scanCount >= Self.scansBeforeIndex else { return nil }
            byValue = PendingIndex()
            indexedCount = 0
        }
        // Objects that were changed without an event.
        for object in objects[min(indexedCount, count)...] { byValue?.note(object) }
        indexedCount = count
        guard let stored = byValue?.storedCount(where: plan.includes) else { return .nothing }
        guard let tree = plan.predicate.flatMap({ try? predicateTree(of: $0) }),
            let found = byValue?.candidates(PendingIndex.Equality.all(in: tree), where: plan.includes)
        else { return nil }
        return .candidates(found, storedCount: stored)
    }

    /// Adds changes to the index and the summaries.
    mutating func index(_ changed: some Sequence<NSManagedObject>) {
        sum(changed)
        guard byValue != nil else { return }
        for object in changed { byValue?.note(object) }
    }

    /// Updates the index and the summaries for a value that was set outside an event.
    mutating func indexAgain(_ object: NSManagedObject) {
        guard object.state.contains(.listed) else { return }
        index(CollectionOfOne(object))
    }

    /// Discards the index and the summaries because other objects have changes now.
    mutating func dropIndex() {
        byValue = nil
        scanCount = 0
        summaries = ChangeSummaries()
        summedCount = 0
    }

    // MARK: Summaries

    /// Removes and returns the summaries, which know of all changes then. Evaluating a predicate may change the list
    /// meanwhile.
    ///
    /// - Returns: nil if there are few objects.
    mutating func takeSummaries() -> ChangeSummaries? {
        guard count >= Self.indexingCount else { return nil }
        // Objects that were changed without an event.
        sum(objects[min(summedCount, count)...])
        summedCount = count
        defer { summaries = nil }
        return summaries
    }

    /// Puts the summaries back, unless objects have changed meanwhile.
    mutating func keep(_ taken: ChangeSummaries) { if summaries == nil { summaries = taken } }

    /// Adds changes to the summaries. Those that are not there do not know of these, and are not put back.
    private mutating func sum(_ changed: some Sequence<NSManagedObject>) {
        if summaries == nil { summaries = ChangeSummaries() }
        guard summaries?.isInUse ?? false else { return }
        let count = count
        summaries?.note(changed, of: count)
    }
}
