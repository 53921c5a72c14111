import StoreSession

// What is computed from values in memory, where the store does not have the values as they are.
extension AggregatedProperty {
    /// The values of the models that a filter selects; nil for a missing one.
    func values(_ predicate: NSPredicate?, in source: any StructRows) throws -> [Any?] {
        var values: [Any?] = []
        try read([self], predicate, in: source) { values.append($0[0]) }
        return values
    }

    /// The values of several properties of the models that a filter selects.
    private func read(
        _ properties: [AggregatedProperty], _ predicate: NSPredicate?, in source: any StructRows,
        _ body: ([Any?]) throws -> Void
    ) throws {
        let paths = properties.map { AttributePath(path: $0.path, kind: $0.kind, relationships: nil) }
        try source.readTuples(of: plan, RecordSelection(predicate: predicate), at: paths) { tuple in
            try body(zip(tuple, properties).map { $0.isNull ? nil : $0.attributeValue($1.kind) })
        }
    }

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

// Groups.
extension AggregatedProperty {
    /// What the selected models tell of each group.
    func parts<Group: Decodable & Hashable>(
        _ function: AggregateFunction?, inMemoryBy group: AggregatedProperty, _ predicate: NSPredicate?,
        in source: any StructRows
    ) throws -> [Group: [GroupPart]] {
        var parts: [Group: [GroupPart]] = [:]
        try read([self, group], predicate, in: source) { values in
            guard let value = values[0] else { return }
            parts[try group.value(values[1], Group.self), default: []].append(
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
