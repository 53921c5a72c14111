import CoreData
import PredicateFormat
import StoreEngine

/// The objects that a page shows, as a value.
package struct PageRequest {
    package enum Start: Equatable {
        case beginning
        /// After the object with a key.
        case after(Int64)
        /// Before the object with a key.
        case before(Int64)
    }

    package var entity: EntityLayout
    package var includesSubentities = true
    package var filter: NSPredicate?
    /// The attribute to sort by; nil for the keys.
    package var sortKey: String?
    package var isAscending = true
    package var start = Start.beginning
    /// The sort key's value of the object that the page begins after or ends before, which counts if that object is
    /// gone.
    package var startValue = Value.null
    package var size = 50

    package init(entity: EntityLayout) { self.entity = entity }

    /// The fetch that counts the objects of all pages.
    package var countPlan: FetchPlan {
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = includesSubentities
        plan.predicate = filter
        return plan
    }

    /// The fetch of all objects, in order.
    package var fullPlan: FetchPlan {
        var plan = countPlan
        plan.sortDescriptors = descriptors(isReversed: false)
        return plan
    }

    fileprivate func descriptors(isReversed: Bool) -> [NSSortDescriptor] {
        let keys = sortKey.map { [NSSortDescriptor(key: $0, ascending: isAscending != isReversed)] } ?? []
        return keys + [
            NSSortDescriptor(key: "objectID", ascending: (sortKey == nil ? isAscending : true) != isReversed)
        ]
    }

    /// The fetch of a page and one object more. Its statement begins at the row where the last page ended, and so costs
    /// the same for every page.
    ///
    /// - Parameters:
    ///   - identifier: the object that the page begins after or ends before.
    ///   - value: that object's value of the sort key.
    /// - Returns: the plan; its rows are in reverse order if the page ends before an object.
    func plan(from identifier: NSManagedObjectID?, value: Value) -> FetchPlan {
        var isReversed = false
        if case .before = start { isReversed = true }
        var plan = countPlan
        plan.sortDescriptors = descriptors(isReversed: isReversed)
        plan.limit = size + 1
        guard let identifier else { return plan }
        let tree = Self.tree(
            after: Value(identifier), value: value, sortKey: sortKey, isAscending: isAscending != isReversed,
            areKeysAscending: (sortKey == nil ? isAscending : true) != isReversed)
        // A filter comes from text, so it cannot be code.
        let own = filter.flatMap { try? predicateTree(of: $0) }
        plan.predicate = makePredicate(own.map { .and([$0, tree]) } ?? tree)
        return plan
    }

    /// The condition for rows after a place in an order in which null is the least. Pure.
    static func tree(
        after identifier: Value, value: Value, sortKey: String?, isAscending: Bool, areKeysAscending: Bool
    ) -> PredicateTree {
        func compare(_ key: String, _ operation: ComparisonOperator, _ value: Value) -> PredicateTree {
            .comparison(ComparisonTree(.keyPath([key]), operation, .constant(value)))
        }
        let later = compare("objectID", areKeysAscending ? .greaterThan : .lessThan, identifier)
        guard let sortKey else { return later }
        let isSame = compare(sortKey, .equalTo, value)
        let beyond: PredicateTree? =
            switch (isAscending, value.isNull) {
            case (true, true): compare(sortKey, .notEqualTo, .null)
            case (true, false): compare(sortKey, .greaterThan, value)
            case (false, true): nil
            case (false, false): .or([compare(sortKey, .lessThan, value), compare(sortKey, .equalTo, .null)])
            }
        let rest = PredicateTree.and([isSame, later])
        return beyond.map { .or([$0, rest]) } ?? rest
    }
}

/// A page of objects.
package struct Page {
    package var rows: [Row] = []
    package var hasBefore = false
    package var hasAfter = false

    package init() {}
}

extension DirectStore {
    /// The objects of a page.
    ///
    /// - Throws: an `NSError` for a filter that the store cannot run, and for a store that cannot be read.
    package func page(_ request: PageRequest) throws -> Page {
        try asking { engine in
            guard pagesByKey else { return try slice(request, engine) }
            var place: NSManagedObjectID?
            var value = request.startValue
            switch request.start {
            case .beginning: break
            case .after(let key), .before(let key):
                // All keys of a hierarchy belong to one table.
                let row = try engine.row(for: identifier(request.entity, key))
                place = identifier(request.entity, key)
                if let name = request.sortKey, let slot = request.entity.slotIndex(forName: name), let row {
                    value = Value(row.values[slot], request.entity.slots[slot].attribute)
                }
            }
            let found = try engine.fetchRows(request.plan(from: place, value: value))
            return Self.page(Array(found), request)
        }
    }

    private static func page(_ found: [Row], _ request: PageRequest) -> Page {
        var page = Page()
        let hasMore = found.count > request.size
        page.rows = Array(found.prefix(request.size))
        switch request.start {
        case .beginning: page.hasAfter = hasMore
        case .after: (page.hasBefore, page.hasAfter) = (true, hasMore)
        case .before:
            page.rows.reverse()
            (page.hasBefore, page.hasAfter) = (hasMore, true)
        }
        return page
    }

    /// A page of a store that is in memory.
    private func slice(_ request: PageRequest, _ engine: any StoreEngine) throws -> Page {
        var plan = request.countPlan
        if let key = request.sortKey {
            plan.sortDescriptors = [NSSortDescriptor(key: key, ascending: request.isAscending)]
        }
        var rows = Array(try engine.fetchRows(plan))
        if request.sortKey == nil {
            rows.sort { request.isAscending ? $0.objectID.key < $1.objectID.key : $0.objectID.key > $1.objectID.key }
        }
        var page = Page()
        var range = 0..<min(request.size, rows.count)
        switch request.start {
        case .beginning: break
        case .after(let key):
            let start = (rows.firstIndex { $0.objectID.key == key } ?? -1) + 1
            range = start..<min(start + request.size, rows.count)
        case .before(let key):
            let end = rows.firstIndex { $0.objectID.key == key } ?? min(request.size, rows.count)
            range = max(0, end - request.size)..<end
        }
        (page.hasBefore, page.hasAfter) = (range.lowerBound > 0, range.upperBound < rows.count)
        page.rows = Array(rows[range])
        return page
    }
}

extension Value {
    /// A stored value as a constant of a predicate.
    init(_ value: StoredValue, _ attribute: AttributeLayout?) {
        switch value {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .double(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .date(let value): self = .date(Date(timeIntervalSinceReferenceDate: value))
        case .data(let value): self = .data(value)
        case .uuid(let value): self = .uuid(value)
        case .identifier(let value): self = Value(value)
        case .object(let value): self = Value(value)
        }
    }
}
