import PredicateFormat

// Summaries of unsaved changes, for questions that are asked in turn with changes.
extension NSManagedObjectContext {
    /// The largest number of first objects that is kept: parts of a summary have up to as many.
    private static var firstLimit: Int { 32 }

    /// The changed objects that are among the first ones of a plan with a limit.
    ///
    /// - Parameters:
    ///   - plan: what is fetched.
    ///   - keys: what is read of the objects, apart from the attributes that decide.
    /// - Returns: as many as the plan's limit and offset ask for, in the plan's order, and the IDs of those whose rows
    ///   no longer hold; nil if all changed objects have to be looked at.
    /// - Throws: an error of the predicate's evaluation.
    func firstChanges(
        for plan: FetchPlan, reading keys: [String]
    ) throws -> (selected: [NSManagedObject], outdated: [NSManagedObjectID])? {
        let (count, isTooLarge) = plan.limit.addingReportingOverflow(max(plan.offset, 0))
        guard plan.limit > 0, !isTooLarge, count <= Self.firstLimit,
            let terms = try? sortTerms(of: plan.sortDescriptors)
        else { return nil }
        func first(_ objects: [NSManagedObject]) -> [NSManagedObject] {
            terms.isEmpty ? Array(objects.prefix(count)) : objects.sorted(by: terms, first: count)
        }
        return try summary(for: plan, keys, "first \(count)", { [$0] }, { first($0 + $1) }).map {
            ($0.total as? [NSManagedObject] ?? [], $0.outdated)
        }
    }

    /// The number of changed objects that a plan selects, if the stores have none of these.
    ///
    /// - Returns: nil if the changed objects have to be looked at.
    /// - Throws: an error of the predicate's evaluation.
    func countOfNew(_ plan: FetchPlan) throws -> Int? {
        guard !changed.isEmpty else { return nil }
        processDeletions()
        var unordered = plan
        unordered.sortDescriptors = []
        guard newObjects(for: plan) == nil, let summary = try summary(for: unordered, [], "count", { _ in 1 }, +),
            summary.outdated.isEmpty
        else { return nil }
        return summary.total as? Int ?? 0
    }

    /// The changed objects that a plan may select, found by a value that the predicate asks for.
    ///
    /// - Returns: nil if there is none, if all changed objects have to be looked at, and if stores may have some: those
    ///   that no longer match are not found by their values.
    func newObjects(for plan: FetchPlan) -> ContiguousArray<NSManagedObject>? {
        guard event.objects.isEmpty, case .candidates(let found, storedCount: 0)? = changed.indexed(for: plan) else {
            return nil
        }
        return found.filter { $0.hasChanges && $0.managedObjectContext === self }
    }

    /// What all changes add to the answer of a question about the objects that a plan selects.
    ///
    /// - Returns: nil if all changed objects have to be looked at: there are few, or the question is a new one, or more
    ///   than stored attributes of the objects themselves decides.
    func summary<Part>(
        for plan: FetchPlan, _ keys: [String], _ purpose: String, _ part: @escaping (NSManagedObject) -> Part?,
        _ combine: @escaping (Part, Part) -> Part
    ) throws -> ChangeSummary? {
        guard changed.count >= ChangeList.indexingCount, event.objects.isEmpty,
            let order = try? sortTerms(of: plan.sortDescriptors)
        else { return nil }
        var tree: PredicateTree?
        if let predicate = plan.predicate {
            guard let known = try? predicateTree(of: predicate) else { return nil }
            tree = known
        }
        var read = plan
        read.sortDescriptors += keys.map { NSSortDescriptor(key: $0, ascending: true) }
        guard var deciding = DecidingAttributes(of: read), deciding.areStored(in: plan.entity) else { return nil }
        let question = ChangeSummary.Question(
            entity: ObjectIdentifier(plan.entity), includesSubentities: plan.includesSubentities, predicate: tree,
            order: order, keys: keys, purpose: purpose)
        guard var summaries = changed.takeSummaries() else { return nil }
        let summary = try StoreError.evaluating {
            let matches = Self.test(plan.predicate)
            let rule = ChangeSummary.Rule(
                isAffected: {
                    plan.includes($0.layout) && $0.managedObjectContext === self && !deciding.areUnchanged(in: $0)
                },
                part: { matches($0) ? part($0) : nil },
                combine: { left, right in
                    guard let left = left as? Part, let right = right as? Part else { return left }
                    return combine(left, right)
                })
            return summaries.summary(for: question, of: changed.objects, rule)
        }
        // Not after an error: objects that could not be evaluated are to be looked at again.
        changed.keep(summaries)
        return summary
    }
}

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
