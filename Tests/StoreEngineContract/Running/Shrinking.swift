/// Leaves steps out for as long as what is left still fails. Pure, apart from what running the steps does.
struct Shrinking {
    private let steps: [Step]
    private let fails: ([Step]) -> Bool

    init(_ steps: [Step], fails: @escaping ([Step]) -> Bool) { (self.steps, self.fails) = (steps, fails) }

    /// The fewest steps that were found; those that came in where they do not fail again.
    var fewest: [Step] {
        guard fails(steps) else { return steps }
        var fewest = steps
        while true {
            let fewer = withParts(withoutSteps(fewest))
            if fewer.size == fewest.size { return fewer }
            fewest = fewer
        }
    }

    /// Leaves out runs of steps, long ones first.
    private func withoutSteps(_ steps: [Step]) -> [Step] {
        var left = steps
        var length = max(left.count / 2, 1)
        while length > 0 {
            var start = 0
            while start < left.count {
                var fewer = left
                fewer.removeSubrange(start..<min(start + length, left.count))
                if fails(fewer) { left = fewer } else { start += length }
            }
            length /= 2
        }
        return left
    }

    /// Leaves out parts of steps.
    private func withParts(_ steps: [Step]) -> [Step] {
        var left = steps
        for position in left.indices {
            var part = 0
            while part < left[position].smaller.count {
                var fewer = left
                fewer[position] = left[position].smaller[part]
                if fails(fewer) { left = fewer } else { part += 1 }
            }
        }
        return left
    }
}

extension [Step] {
    fileprivate var size: Int { reduce(count) { $0 + $1.smaller.count } }
}

extension Step {
    /// The step with one part left out, in every way.
    var smaller: [Step] {
        switch self {
        case .save(let step): step.smaller.map(Step.save)
        case .fetch(let step): step.smaller.map(Step.fetch)
        case .dictionaries(let step):
            (step.columns.count < 2 ? [] : without(step.columns) { .dictionaries(with(step) { $0.columns = $1 }($0)) })
                + step.fetch.smaller.map { .dictionaries(with(step) { $0.fetch = $1 }($0)) }
        case .insertBatch(let step):
            without(step.rows) { .insertBatch(with(step) { $0.rows = $1 }($0)) }
                + step.rows.indices.flatMap { row in
                    without(step.rows[row].values) { .insertBatch(with(step) { $0.rows[row].values = $1 }($0)) }
                }
        case .updateBatch(let step):
            without(step.values) { .updateBatch(with(step) { $0.values = $1 }($0)) }
                + without(step.expressions) { .updateBatch(with(step) { $0.expressions = $1 }($0)) }
                + step.rows.smaller.map { .updateBatch(with(step) { $0.rows = $1 }($0)) }
        case .deleteBatch(let step):
            without(step.objects ?? []) { .deleteBatch(with(step) { $0.objects = $1 }($0)) }
                + step.rows.smaller.map { .deleteBatch(with(step) { $0.rows = $1 }($0)) }
        case .longTransaction(let saves, let commits):
            without(saves) { .longTransaction(saves: $0, commits: commits) }
                + saves.indices.flatMap { index in
                    saves[index].smaller.map {
                        .longTransaction(saves: with(saves) { $0[index] = $1 }($0), commits: commits)
                    }
                }
        case .reserveKeys, .reopen: []
        }
    }
}

extension SaveStep {
    fileprivate var smaller: [SaveStep] {
        without(inserted, with(self) { $0.inserted = $1 }) + without(changed, with(self) { $0.changed = $1 })
            + without(deleted, with(self) { $0.deleted = $1 }) + without(stale, with(self) { $0.stale = $1 })
            + inserted.indices.flatMap { index in
                without(inserted[index].values, with(self) { $0.inserted[index].values = $1 })
                    + without(inserted[index].toMany, with(self) { $0.inserted[index].toMany = $1 })
            }
            + changed.indices.flatMap { index in
                without(changed[index].values, with(self) { $0.changed[index].values = $1 })
                    + without(changed[index].toMany, with(self) { $0.changed[index].toMany = $1 })
            }
    }
}

extension FetchStep {
    fileprivate var smaller: [FetchStep] {
        var smaller: [FetchStep] = []
        if condition != nil { smaller.append(with(self) { $0.condition = $1 }(nil)) }
        if limit > 0 || offset > 0 {
            var all = self
            (all.limit, all.offset) = (0, 0)
            smaller.append(all)
        }
        // The last one says which of equals comes first.
        return smaller
            + without(Array(order.dropLast())) { rest in with(self) { $0.order = $1 }(rest + order.suffix(1)) }
    }
}

/// A copy with another part.
private func with<Whole, Part>(_ whole: Whole, _ set: @escaping (inout Whole, Part) -> Void) -> (Part) -> Whole {
    { part in
        var copy = whole
        set(&copy, part)
        return copy
    }
}

private func without<Element, Result>(_ list: [Element], _ make: ([Element]) -> Result) -> [Result] {
    list.indices.map { index in
        var rest = list
        rest.remove(at: index)
        return make(rest)
    }
}

private func without<Value, Result>(_ values: [String: Value], _ make: ([String: Value]) -> Result) -> [Result] {
    values.keys.sorted().map { key in make(values.filter { $0.key != key }) }
}
