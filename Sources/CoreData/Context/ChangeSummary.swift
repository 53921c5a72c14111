import PredicateFormat

/// What the unsaved changes add to the answer of a question that is asked again and again, such as the greatest number
/// before each of many insertions.
///
/// Each change is looked at once, and not each time the question is asked. Belongs to a context, on whose queue it is
/// used.
struct ChangeSummary {
    /// What is asked. Equal questions have the same answer while nothing changes.
    struct Question: Hashable {
        let entity: ObjectIdentifier
        let includesSubentities: Bool
        let predicate: PredicateTree?
        let order: [SortTerm]
        /// The attributes that the answer is computed from, apart from those of the predicate and the order.
        let keys: [String]
        /// What is computed of them, and of how many objects: parts of equal questions have the same type.
        let purpose: String
    }

    /// How a change becomes part of the answer.
    struct Rule {
        /// Whether a changed object takes part, with its present values or with its row.
        let isAffected: (NSManagedObject) -> Bool
        /// The part of an object; nil if it is not selected, or has none.
        let part: (NSManagedObject) -> Any?
        /// The total of two parts, of which the first one belongs to objects that changed before.
        let combine: (Any, Any) -> Any
    }

    /// The parts of all changed objects together; nil if there are none.
    var total: Any? { tree.total }
    /// The IDs of changed and deleted objects whose rows stores may have, in the order of their first changes.
    var outdated: [NSManagedObjectID] { stored.sorted().map { objects[$0].objectID } }

    private var tree = TotalTree<Any>()
    /// Each object once, in the order of its first change. They are kept so that no other object gets their identity.
    private var objects: ContiguousArray<NSManagedObject> = []
    private var places: [ObjectIdentifier: Int] = [:]
    /// The places of affected objects that stores may have.
    private var stored: Set<Int> = []

    /// Looks at objects that have changed, for the first time or again.
    mutating func note(_ changed: some Sequence<NSManagedObject>, _ rule: Rule) {
        var parts: [(place: Int, part: Any?)] = []
        for object in changed {
            let known = places[ObjectIdentifier(object)]
            let isAffected = object.hasChanges && rule.isAffected(object)
            guard known != nil || isAffected else { continue }
            let place = known ?? objects.count
            if known == nil {
                objects.append(object)
                places[ObjectIdentifier(object)] = place
            }
            if isAffected, !object.state.contains(.inserted) { stored.insert(place) } else { stored.remove(place) }
            parts.append((place, isAffected && !object.isDeleted ? rule.part(object) : nil))
        }
        tree.set(parts, rule.combine)
    }
}

/// The summaries of a context's changes, and the changes that they have not seen.
struct ChangeSummaries {
    /// The largest number of questions. Each one costs something at every change.
    private static let limit = 8

    /// The questions, the one asked last at the end; a question has a summary from the second time on.
    private var asked: [(question: ChangeSummary.Question, summary: ChangeSummary?, seen: Int)] = []
    /// The objects that have changed, for the first time or again, since the first summary was made.
    private var journal: ContiguousArray<NSManagedObject> = []

    /// Whether changes have to be noted.
    var isInUse: Bool { asked.contains { $0.summary != nil } }

    /// Adds changed objects to what the summaries look at next.
    ///
    /// - Parameters:
    ///   - changed: the objects.
    ///   - count: the number of all changed objects. A journal that has grown much longer costs more than looking at
    ///     them, and would grow without end where objects change, and nobody asks: the summaries begin anew.
    mutating func note(_ changed: some Sequence<NSManagedObject>, of count: Int) {
        journal.append(contentsOf: changed)
        if journal.count > 4 * max(count, ChangeList.indexingCount) { self = ChangeSummaries() }
    }

    /// The summary for a question, with all changes.
    ///
    /// - Parameters:
    ///   - question: the question.
    ///   - all: all changed objects.
    ///   - rule: how a change becomes part of the answer.
    /// - Returns: nil the first time that a question is asked: looking at all changes costs less then.
    mutating func summary(
        for question: ChangeSummary.Question, of all: ContiguousArray<NSManagedObject>, _ rule: ChangeSummary.Rule
    ) -> ChangeSummary? {
        guard let index = asked.firstIndex(where: { $0.question == question }) else {
            if asked.count == Self.limit { asked.removeFirst() }
            asked.append((question, nil, 0))
            return nil
        }
        var entry = asked.remove(at: index)
        if entry.summary == nil {
            entry.summary = ChangeSummary()
            entry.summary?.note(all, rule)
        } else {
            entry.summary?.note(journal[entry.seen...], rule)
        }
        entry.seen = journal.count
        asked.append(entry)
        return entry.summary
    }
}
