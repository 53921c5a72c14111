import StoreSession

// What is computed for each value of another property.
extension AggregatedProperty {
    /// The result for each value of another property. A group in which no model has a value is left out.
    ///
    /// - SQL: `SELECT <group>, <function>(<property>) FROM Z<ENTITY> WHERE <filter> GROUP BY <group>`
    func values<Model, Value, Group: Decodable & Hashable>(
        _ aggregate: Aggregate<Model, Value>, by group: AggregatedProperty, _ predicate: NSPredicate?,
        in source: any StructRows
    ) throws -> [Group: Value] {
        if aggregate.isByOrderOfCases {
            // Each group's different values.
            let parts: [Group: [GroupPart]] = try parts(nil, by: group, predicate, in: source)
            return try parts.compactMapValues {
                aggregate.extreme(of: try $0.map { try value($0.value, Value.self) })
            }
        }
        let kind = kind(of: aggregate.function)
        return try results(aggregate.function, by: group, predicate, in: source).compactMapValues {
            try decoded($0, kind, Value.self)
        }
    }

    private func results<Group: Decodable & Hashable>(
        _ function: AggregateFunction, by group: AggregatedProperty, _ predicate: NSPredicate?,
        in source: any StructRows
    ) throws -> [Group: Any] {
        try parts(function, by: group, predicate, in: source).compactMapValues { parts in
            if parts.count == 1 { return parts[0].value }
            switch function {
            case .sum, .minimum, .maximum: return try result(function, parts.map(\.value))
            case .count: return try result(.sum, parts.map(\.value))
            case .average:
                let sum = parts.reduce(0) { $0 + (($1.value as? NSNumber)?.nearestDouble ?? 0) * Double($1.count) }
                return NSNumber(value: sum / Double(parts.reduce(0) { $0 + $1.count }))
            }
        }
    }

    /// What is known of each group. Groups that the store distinguishes may be equal in Swift, such as an “é” of one
    /// scalar and one of two.
    ///
    /// - Parameters:
    ///   - function: what the store computes; nil for the different values.
    ///   - group: the property whose values make the groups.
    ///   - predicate: what the models meet; nil for all.
    ///   - source: what is read, whose changes count.
    /// - Returns: the parts that each group is put together from.
    /// - Throws: what fetching throws.
    private func parts<Group: Decodable & Hashable>(
        _ function: AggregateFunction?, by group: AggregatedProperty, _ predicate: NSPredicate?,
        in source: any StructRows
    ) throws -> [Group: [GroupPart]] {
        guard source.isStored else { return try parts(function, inMemoryBy: group, predicate, in: source) }
        var parts: [Group: [GroupPart]] = [:]
        let rows = try source.computed(of: plan, predicate) { fetch in
            fetch.groupBy = function == nil && path != group.path ? [group.path, path] : [group.path]
            fetch.columns = (function == nil ? fetch.groupBy : [group.path]).map { .keyPath($0) }
            if let function { fetch.columns += columns(function) }
            if function == .average { fetch.columns.append(countColumn) }
        }
        for row in rows where isOfAny(row) {
            guard let value = row[function == nil ? path : valueName], !(value is NSNull) else { continue }
            parts[try group.value(row[group.path], Group.self), default: []].append(
                GroupPart(value: value, count: (row[countName] as? NSNumber)?.intValue ?? 1))
        }
        return parts
    }
}

/// What is known of a group: a value, or what the store has computed from several.
struct GroupPart {
    let value: Any
    /// The number of values.
    let count: Int
}
