import CoreData

// What is computed from values in memory: of changed objects, or of all objects if the store cannot compute without
// them.
extension AggregatedProperty {
    /// The objects that a filter selects.
    func objects(_ predicate: NSPredicate?, in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try plan.objects(RecordSelection(predicate: predicate), in: context)
    }

    /// The function's result for some objects; `nil` if none has a value.
    func result(_ function: AggregateFunction, of objects: [NSManagedObject]) throws -> Any? {
        try result(function, values(of: objects))
    }

    /// The values of some objects, without missing ones.
    func values(of objects: [NSManagedObject]) -> [Any] { objects.compactMap { $0.value(forKeyPath: path) } }

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
    private var order: (Any?, Any?) -> Bool {
        let descriptor = NSSortDescriptor(key: "value", ascending: true)
        return { first, second in
            descriptor.compare(["value": first ?? NSNull()], to: ["value": second ?? NSNull()]) == .orderedAscending
        }
    }

    /// A value as the store distinguishes it, which is not always as Swift does: texts by their bytes.
    func stored(_ value: Any?) -> StoredValue { StoredValue(value, kind) ?? .null }
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
