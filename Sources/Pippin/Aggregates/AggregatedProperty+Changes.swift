import CoreData

// What is computed from values in memory: of changed objects, or of all objects if the store cannot compute without
// them.
extension AggregatedProperty {
    /// The objects that a filter selects; none where rows are read from the store.
    func objects(_ predicate: NSPredicate?, in source: any StructRows) throws -> [NSManagedObject] {
        guard let objects = source as? ObjectRows else { return [] }
        return try plan.objects(RecordSelection(predicate: predicate), in: objects.context)
    }

    /// The values of the objects that a filter selects, without missing ones.
    func valuesOfObjects(_ predicate: NSPredicate?, in source: any StructRows) throws -> [Any] {
        values(of: try objects(predicate, in: source))
    }

    /// The values of some objects, without missing ones.
    private func values(of objects: [NSManagedObject]) -> [Any] { objects.compactMap { $0.value(forKeyPath: path) } }

    /// The values of some objects; `nil` for a missing one.
    func optionalValues(of objects: [NSManagedObject]) -> [Any?] { objects.map { $0.value(forKeyPath: path) } }

    /// The function's result for some values of the property.
    ///
    /// - Throws: ``PersistenceError/Code/readFailed`` for a sum of whole numbers that overflows, as stores do.
    func result(_ function: AggregateFunction, _ values: [Any]) throws -> Any? {
        guard !values.isEmpty else { return nil }
        switch function {
        case .count: return values.count
        case .minimum: return values.min(by: order)
        case .maximum: return values.max(by: order)
        case .sum where [.integer16, .integer32, .integer64].contains(kind): return NSNumber(value: try sum(values))
        case .sum, .average: return Self.computed(function, values)
        }
    }

    private static func computed(_ function: AggregateFunction, _ values: [Any]) -> Any? {
        NSExpression(forFunction: function.rawValue, arguments: [NSExpression(forConstantValue: values)])
            .expressionValue(with: nil, context: nil)
    }

    private func sum(_ values: [Any]) throws -> Int64 {
        try values.reduce(into: 0) { sum, value in
            guard case .integer(let number) = stored(value) else { return }
            let (next, isOver) = sum.addingReportingOverflow(number)
            if isOver { throw overflow }
            sum = next
        }
    }

    private var overflow: PersistenceError {
        PersistenceError(
            .readFailed, entity: plan.name, property: path,
            "The sum of '\(path)' of '\(plan.name)' is more than 64 bits hold: integer overflow.")
    }

    /// The different values in the order in which the store sorts them; `nil` is the first.
    func distinct(_ values: [Any?]) -> [Any?] { distinct(inOrder: values.sorted(by: order)) }

    /// The different values of two lists that are in order.
    func distinct(_ first: [Any?], _ second: [Any?]) -> [Any?] {
        let precedes = order
        var merged: [Any?] = []
        var (left, right) = (first[...], second[...])
        while let leftFirst = left.first, let rightFirst = right.first {
            merged.append(precedes(rightFirst, leftFirst) ? right.removeFirst() : left.removeFirst())
        }
        return distinct(inOrder: merged + left + right)
    }

    private func distinct(inOrder values: [Any?]) -> [Any?] {
        var distinct: [Any?] = []
        var last: StoredValue?
        for value in values {
            let stored = stored(value)
            if last != stored { distinct.append(value) }
            last = stored
        }
        return distinct
    }

    /// Whether a value comes before another one in a store.
    var order: (Any?, Any?) -> Bool {
        let descriptor = NSSortDescriptor(key: "value", ascending: true)
        return { first, second in
            descriptor.compare(["value": first ?? NSNull()], to: ["value": second ?? NSNull()]) == .orderedAscending
        }
    }

    /// A value as the store distinguishes it, which is not always as Swift does: texts by their bytes.
    func stored(_ value: Any?) -> StoredValue { StoredValue(value, kind) ?? .null }
}

// Groups of objects.
extension AggregatedProperty {
    /// What some objects tell of each group.
    func parts<Group: Decodable & Hashable>(
        _ function: AggregateFunction?, of objects: [NSManagedObject], by group: AggregatedProperty
    ) throws -> [Group: [GroupPart]] {
        var parts: [Group: [GroupPart]] = [:]
        for object in objects {
            guard let value = object.value(forKeyPath: path) else { continue }
            parts[try group.value(object.value(forKeyPath: group.path), Group.self), default: []].append(
                GroupPart(value: part(function, of: value), count: 1))
        }
        return parts
    }

    /// What the store would compute of one value.
    private func part(_ function: AggregateFunction?, of value: Any) -> Any {
        switch (function, StoredValue(value, kind)) {
        case (.count, _): NSNumber(value: 1)
        case (.average, .integer(let number)): NSNumber(value: Double(number))
        case (.average, .object(let number as NSNumber)): NSNumber(value: number.nearestDouble)
        default: value
        }
    }
}

// Sums that grow by a term at a time.
extension AggregatedProperty {
    /// The sum of some values.
    struct Sum {
        let count: Int
        let total: Total

        enum Total {
            /// One that 64 bits do not hold may come back into them.
            case whole(Int128)
            case other(Any)
        }
    }

    /// The sum of one value.
    func sum(of value: Any) -> Sum {
        if case .integer(let number) = stored(value) { return Sum(count: 1, total: .whole(Int128(number))) }
        return Sum(count: 1, total: .other(value))
    }

    func sum(_ first: Sum, _ second: Sum) -> Sum {
        let total: Sum.Total =
            switch (first.total, second.total) {
            case (.whole(let left), .whole(let right)): .whole(left + right)
            case (.other(let left), .other(let right)): .other(Self.computed(.sum, [left, right]) ?? left)
            case (.whole, .other(let value)), (.other(let value), .whole): .other(value)
            }
        return Sum(count: first.count + second.count, total: total)
    }

    /// A sum as a value of the property's kind.
    ///
    /// - Throws: ``PersistenceError/Code/readFailed`` for a whole number of more than 64 bits.
    func value(of sum: Sum) throws -> Any {
        switch sum.total {
        case .other(let value): return value
        case .whole(let number):
            guard let number = Int64(exactly: number) else { throw overflow }
            return NSNumber(value: number)
        }
    }
}

/// What a context has that the store has not seen, for an aggregate: the store computes with the other models, and the
/// changed objects add their part.
struct UnsavedPart {
    /// The changed objects that the filter selects; none of those of a sum.
    var objects: [NSManagedObject] = []
    /// The values of the changed objects, or their sum.
    var values: [Any] = []
    /// How many values there are, the terms of a sum included.
    var count = 0
    /// What selects the models that did not change.
    let others: NSPredicate?

    /// What an aggregate takes of the changed objects.
    enum Wanted {
        case all, inOrder, least, greatest, sum
    }
}

extension AggregatedProperty {
    /// The part that the source's unsaved changes have in the result.
    ///
    /// - Returns: the part; `nil` if the result has to be computed from all objects, because values of other models
    ///   than the selected ones take part, or because the context gets its objects from another one.
    func unsavedPart(
        _ predicate: NSPredicate?, taking wanted: UnsavedPart.Wanted = .all, by group: AggregatedProperty? = nil,
        in source: any StructRows
    ) throws -> UnsavedPart? {
        guard let context = (source as? ObjectRows)?.context, context.hasChanges else {
            return UnsavedPart(others: predicate)
        }
        guard context.parent == nil, try isStored(in: context), try group?.isStored(in: context) ?? true else {
            return nil
        }
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
        request.predicate = predicate
        if wanted == .sum { return try unsavedSum(of: request, predicate, in: context) }
        if wanted != .all {
            request.sortDescriptors = [NSSortDescriptor(key: path, ascending: wanted != .greatest)]
        }
        if wanted == .least || wanted == .greatest {
            request.fetchLimit = 1
            let isPresent = NSPredicate(format: "%K != nil", argumentArray: [path])
            request.predicate =
                predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [$0, isPresent]) }
                ?? isPresent
        }
        let changes = try context.unsavedChanges(of: request, reading: [path] + (group.map { [$0.path] } ?? []))
        let values = values(of: changes.selected)
        return UnsavedPart(
            objects: changes.selected, values: values, count: values.count,
            others: Self.predicate(predicate, without: changes.outdated))
    }

    private func unsavedSum(
        of request: NSFetchRequest<any NSFetchRequestResult>, _ predicate: NSPredicate?,
        in context: NSManagedObjectContext
    ) throws -> UnsavedPart {
        let (sum, outdated) = try context.unsavedPart(
            of: request, reading: [path], for: "sum of \(path)",
            { object -> Sum? in object.value(forKeyPath: path).map { self.sum(of: $0) } },
            combine: { left, right in self.sum(left, right) })
        let others = Self.predicate(predicate, without: outdated)
        guard let sum else { return UnsavedPart(others: others) }
        return UnsavedPart(values: [try value(of: sum)], count: sum.count, others: others)
    }

    /// Whether the store has the values of all models that did not change: other models that these lead to did not
    /// change either.
    private func isStored(in context: NSManagedObjectContext) throws -> Bool {
        try related.allSatisfy { try !context.hasOutdatedValues(of: $0.entity, for: $0.key) }
    }

    private static func predicate(_ predicate: NSPredicate?, without outdated: [NSManagedObjectID]) -> NSPredicate? {
        guard !outdated.isEmpty else { return predicate }
        let others = NSPredicate(format: "NOT SELF IN %@", argumentArray: [outdated])
        return predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [$0, others]) } ?? others
    }
}
