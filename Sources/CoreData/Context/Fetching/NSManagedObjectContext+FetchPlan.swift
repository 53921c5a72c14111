import CoreDataModel
import Foundation
import PredicateFormat
import StoreEngine
import StoreSession

/// How the results of a fetch are made.
struct FetchStyle {
    var asFaults = true
    var refreshing = false
    var includesValues = true
    var batchSize = 0

    init() {}

    init(_ request: any FetchDescription) {
        asFaults = request.returnsObjectsAsFaults
        refreshing = request.shouldRefreshRefetchedObjects
        includesValues = request.includesPropertyValues
        batchSize = request.fetchBatchSize
    }
}

// Finds the results of a plan in a context: the source's results, combined with changes made here.
extension NSManagedObjectContext {
    func fetchIdentifiers(_ plan: FetchPlan, _ stores: [NSPersistentStore]?) throws -> [NSManagedObjectID] {
        let pending = try pendingChanges(for: plan, in: stores)
        guard pending.isEmpty, let source, !source.isScattered(plan, stores: stores) else {
            return try fetchObjects(plan, stores, pending: pending, FetchStyle()).map(\.identifier)
        }
        return try source.fetchIdentifiers(plan, stores: stores)
    }

    func fetchCount(_ plan: FetchPlan, _ stores: [NSPersistentStore]?) throws -> Int {
        let isLeft = source?.evaluatesInMemory(plan, stores: stores) ?? false
        let isCut = plan.limit > 0 || plan.offset > 0 || isLeft
        if !isCut, stores == nil, let source, let count = try countOfNew(plan) {
            return try source.fetchCount(plan, stores: stores) + count
        }
        let pending = try pendingChanges(for: plan, in: stores)
        guard let source, !isCut || !source.isScattered(plan, stores: stores) else {
            return try fetchObjects(plan, stores, pending: pending, FetchStyle()).count
        }
        if pending.isEmpty { return try source.fetchCount(plan, stores: stores) }
        if isLeft { return try fetchObjects(plan, stores, pending: pending, FetchStyle()).count }
        return try count(plan, stores, pending, in: source)
    }

    /// The number of objects that a plan finds, without making them.
    private func count(
        _ plan: FetchPlan, _ stores: [NSPersistentStore]?, _ pending: PendingChanges, in source: any RowSource
    ) throws -> Int {
        var whole = plan
        whole.limit = 0
        whole.offset = 0
        whole.sortDescriptors = []
        var count: Int
        if pending.storedCount == 0 {
            count = try source.fetchCount(whole, stores: stores)
        } else {
            let identifiers = try source.fetchIdentifiers(whole, stores: stores)
            takePromotions()
            var deciding = pending.deciding
            count = identifiers.count { identifier in
                guard let object = table.object(for: identifier), object.hasChanges else { return true }
                return deciding?.areUnchanged(in: object) ?? false
            }
        }
        count += try StoreError.evaluating {
            let matches = Self.test(plan.predicate)
            return pending.objects.count { !$0.isDeleted && matches($0) }
        }
        count = max(0, count - max(plan.offset, 0))
        return plan.limit > 0 ? min(count, plan.limit) : count
    }

    func fetchObjects(
        _ plan: FetchPlan, _ stores: [NSPersistentStore]?, pending: PendingChanges, _ style: FetchStyle
    ) throws -> [NSManagedObject] {
        guard let source else { throw Self.noSource("fetch") }
        let isMerging = !pending.isEmpty || source.isScattered(plan, stores: stores)
        let isLeft = source.evaluatesInMemory(plan, stores: stores)
        // A wrong key would stop the program where the predicate is evaluated.
        if isLeft, let tree = plan.predicate.flatMap({ try? predicateTree(of: $0) }) {
            try PredicateKeys.check(tree, of: plan.entity)
        }
        var sourcePlan = plan
        if isMerging {
            // No more of the store's first results can be lost than objects were changed here.
            let isBounded =
                plan.limit > 0 && !isLeft && !source.isScattered(plan, stores: stores) && plan.isSortedByAttributes
            sourcePlan.limit = isBounded ? Self.bound(plan, pending.storedCount) : 0
            sourcePlan.offset = 0
        }
        let stamp = source.generation
        let fetched: [NSManagedObject]
        if !style.includesValues || style.batchSize > 0 {
            let identifiers = try source.fetchIdentifiers(sourcePlan, stores: stores)
            takePromotions()
            fetched = identifiers.map { objectOrFault($0) }
            noteBatches(of: fetched, size: style.batchSize)
            if style.refreshing { try refreshRegistered(among: fetched, from: source) }
        } else if source.givesFaults(sourcePlan) {
            let identifiers = try source.fetchIdentifiers(sourcePlan, stores: stores)
            takePromotions()
            fetched = identifiers.map { objectOrFault($0) }
            if style.refreshing { for object in fetched where !object.isFault { refresh(object, mergeChanges: true) } }
            if !style.asFaults { for object in fetched where object.isFault { object.fireFault() } }
        } else if source.handsOutRows {
            fetched = try objects(of: sourcePlan, in: source, stores, style, stamp: stamp)
        } else {
            let rows = try source.fetchRows(sourcePlan, stores: stores)
            takePromotions()
            table.makeRoom(for: rows.count)
            let (asFault, refreshing) = (style.asFaults, style.refreshing)
            fetched = rows.map { object(for: $0, asFault: asFault, refreshing: refreshing, stamp: stamp) }
        }
        return isMerging ? try StoreError.evaluating { merge(fetched, pending, plan, evaluates: isLeft) } : fetched
    }

    /// Gives results that are not faults the store's values, read together, where they were not changed here.
    private func refreshRegistered(among objects: [NSManagedObject], from source: any RowSource) throws {
        let known = objects.filter { !$0.isFault }.map(\.identifier)
        guard !known.isEmpty else { return }
        let stamp = source.generation
        for row in try source.rows(for: known) { _ = object(for: row, asFault: true, refreshing: true, stamp: stamp) }
    }

    /// The number of results to ask a store for, so that enough are left when some are lost; 0, for no limit, if it is
    /// larger than any number.
    private static func bound(_ plan: FetchPlan, _ lost: Int) -> Int {
        let (last, isTooLarge) = plan.limit.addingReportingOverflow(max(plan.offset, 0))
        let (bound, isTooLargeNow) = last.addingReportingOverflow(lost)
        return isTooLarge || isTooLargeNow ? 0 : bound
    }

    /// The results of a fetch including unsaved changes: the source's results without objects that are deleted or no
    /// longer match, with objects that are new or now match, in order and cut to the limit.
    private func merge(
        _ fetched: [NSManagedObject], _ pending: PendingChanges, _ plan: FetchPlan, evaluates isLeft: Bool
    ) -> [NSManagedObject] {
        let matches = Self.test(plan.predicate)
        var result: [NSManagedObject] = []
        var changed: [NSManagedObject] = []
        var known: Set<ObjectIdentifier> = []
        for object in fetched {
            if !pending.isEmpty, object.hasChanges {
                known.insert(ObjectIdentifier(object))
                if !object.isDeleted, matches(object) { changed.append(object) }
            } else if !object.isDeleted, !isLeft || matches(object) {
                // A store in memory leaves predicates that SQL cannot express to the caller.
                result.append(object)
            }
        }
        result += changed
        result += pending.objects.lazy.filter { !known.contains(ObjectIdentifier($0)) && !$0.isDeleted && matches($0) }
        if !plan.sortDescriptors.isEmpty {
            let wanted = plan.limit > 0 ? plan.limit.addingReportingOverflow(max(plan.offset, 0)) : (.max, false)
            result = Self.sorted(result, by: plan.sortDescriptors, first: wanted.overflow ? .max : wanted.partialValue)
        }
        if plan.offset > 0 { result = Array(result.dropFirst(plan.offset)) }
        if plan.limit > 0 { result = Array(result.prefix(plan.limit)) }
        return result
    }

    /// A predicate as a function of an object, compiled once for all objects.
    static func test(_ predicate: NSPredicate?) -> (NSManagedObject) -> Bool {
        guard let predicate else { return { _ in true } }
        // A predicate without a tree, such as one with a block, evaluates itself.
        guard let compiled = try? compiledPredicate(of: predicate) else { return { predicate.evaluate(with: $0) } }
        return { compiled.evaluate($0) }
    }

    static func sorted(
        _ objects: [NSManagedObject], by descriptors: [NSSortDescriptor], first count: Int = .max
    ) -> [NSManagedObject] {
        if let terms = try? sortTerms(of: descriptors) { return objects.sorted(by: terms, first: count) }
        // `sort` is stable, as is Core Data's sorting of pending changes.
        return objects.sorted { left, right in
            for descriptor in descriptors {
                switch descriptor.compare(left, to: right) {
                case .orderedAscending: return true
                case .orderedDescending: return false
                case .orderedSame: continue
                }
            }
            return false
        }
    }
}

extension FetchDescription {
    /// Whether a dictionary may be one of several objects: of a group, of all, or of those with the same values.
    var combinesObjects: Bool {
        if returnsDistinctResults || !(propertiesToGroupBy ?? []).isEmpty { return true }
        return (propertiesToFetch ?? []).contains { $0 is NSExpressionDescription || ($0 as? String)?.first == "@" }
    }

    /// - Throws: an error if the request for objects, or their IDs, has what only dictionaries can have.
    func checkForObjects() throws {
        if !(propertiesToGroupBy ?? []).isEmpty {
            throw StoreError.make(
                CoreDataErrorCode.coreData,
                "A request with propertiesToGroupBy has dictionaries as results: set resultType to .dictionaryResultType."
            )
        }
        for case let column as NSExpressionDescription in propertiesToFetch ?? [] {
            throw StoreError.make(
                CoreDataErrorCode.coreData,
                "The expression description “\(column.name)” in propertiesToFetch is for dictionaries: set resultType to .dictionaryResultType."
            )
        }
    }
}

extension FetchPlan {
    /// Checks that every value of a group's dictionary is one of the group. SQLite would take that of any row of the
    /// group.
    ///
    /// The store refuses groups by what has no single value, with a reason of its own.
    ///
    /// - Throws: an error that names a column which is neither grouped by nor computed of the group, or a condition on
    ///   groups where there are none.
    func checkGroups() throws {
        guard !groupBy.isEmpty else {
            guard having == nil else {
                throw StoreError.make(
                    CoreDataErrorCode.coreData,
                    "havingPredicate is a condition on groups: set propertiesToGroupBy, too.")
            }
            return
        }
        let keys = groupBy.map(tree(ofColumn:))
        guard keys.allSatisfy(hasOneValue) else { return }
        for column in columns where !column.tree.isOfGroup(by: keys) {
            throw StoreError.make(
                CoreDataErrorCode.coreData,
                "“\(column.name)” of entity “\(entity.name)” is neither among propertiesToGroupBy (\(groupBy.joined(separator: ", "))) nor computed of the group, as by count: and max: is."
            )
        }
    }

    /// Whether a key path leads to an attribute, or over to-one relationships only. Anything else is taken for one
    /// value.
    private func hasOneValue(_ tree: ExpressionTree) -> Bool {
        guard case .keyPath(let path) = tree else { return true }
        var owner = entity
        for key in path {
            guard case .slot(let slot) = owner.propertyByName[key] else { return false }
            guard let relationship = owner.slots[slot].relationship else { return true }
            owner = relationship.destination
        }
        return true
    }
}

extension ExpressionTree {
    /// Whether all rows of a group have one value of the expression, as far as its form shows.
    fileprivate func isOfGroup(by keys: [ExpressionTree]) -> Bool {
        if keys.contains(self) { return true }
        switch self {
        case .evaluatedObject: return false
        case .keyPath(let path): return path.contains { $0.hasPrefix("@") }
        case .function(let function, let arguments):
            return function.takesCollection || arguments.allSatisfy { $0.isOfGroup(by: keys) }
        case .cast(let value, _): return value.isOfGroup(by: keys)
        default: return true
        }
    }
}

/// Parts at places, and the total of all of them in the order of the places.
///
/// The totals of two neighbours, of two such pairs, and so on, are kept, so that a part that changes costs as many
/// steps as the number of parts has binary digits, also where no part can be subtracted from a total, as from the
/// greatest.
struct TotalTree<Part> {
    /// The parts, then the totals of pairs, up to a single one; nil where there is nothing.
    private var levels: [[Part?]] = [[]]

    /// Nil if no place has a part.
    var total: Part? { levels.last?.first ?? nil }

    /// Sets or removes parts.
    ///
    /// - Parameters:
    ///   - parts: places and their parts, nil for none. A place is a known one, or the next one.
    ///   - combine: the total of a part and of a later one.
    mutating func set(_ parts: [(place: Int, part: Part?)], _ combine: (Part, Part) -> Part) {
        var changed: [Int] = []
        for (place, part) in parts {
            if place == levels[0].count {
                levels[0].append(part)
            } else if part == nil, levels[0][place] == nil {
                continue
            } else {
                levels[0][place] = part
            }
            changed.append(place)
        }
        changed.sort()
        // Level by level, so that many parts make the total of what they have in common once.
        var level = 0
        while !changed.isEmpty, levels[level].count > 1 {
            var above: [Int] = []
            if level + 1 == levels.count { levels.append([]) }
            for place in changed where above.last != place / 2 {
                let left = levels[level][place & ~1]
                let right = place | 1 < levels[level].count ? levels[level][place | 1] : nil
                let total = if let left, let right { combine(left, right) } else { left ?? right }
                above.append(place / 2)
                if place / 2 < levels[level + 1].count {
                    levels[level + 1][place / 2] = total
                } else {
                    levels[level + 1].append(total)
                }
            }
            changed = above
            level += 1
        }
    }
}
