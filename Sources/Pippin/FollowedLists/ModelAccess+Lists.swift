import StoreSession

/// A list that was read, and the way it was read.
struct ReadList<Model: CoreModel>: Sendable {
    let models: [Model]
    /// The primary keys of their rows; nil if the list must be read as a whole each time.
    var keys: ContiguousArray<Int64>?
    /// The difference from the former list; nil if it was not computed.
    var edit: ListEdit?
    /// The list that the next reading starts from.
    var kept: ListSnapshot<Model>?
}

extension ModelAccess {
    /// Reads a list. If it was read before, only the rows that were written since are read.
    ///
    /// A list is followed like this if its models are filtered and ordered by their own values. Changes from other
    /// programs, from batch requests and in saves of many rows are not known row by row, so the list is then read as a
    /// whole. The store is asked which models contain a changed model.
    ///
    /// - Parameters:
    ///   - request: the models, from the first one on.
    ///   - isPlain: whether the filter uses only attributes of the models, and these contain no models of their own
    ///     type.
    ///   - former: the list as it was before; nil for the first reading.
    /// - Returns: the list.
    /// - Throws: what fetching throws.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE Z_PK IN (?, …) AND <filter>`, or what `fetch` runs
    func list<Model: CoreModel>(
        _ request: ModelRequest<Model>, isPlain: Bool, since former: ReadList<Model>?
    ) throws -> ReadList<Model> {
        let fetcher = try fetcher(Model.self)
        let selection = try fetcher.selection(request)
        return try PersistenceError.explaining(.readFailed) {
            if isPlain, request.limit.map({ $0 > 0 }) ?? true,
                let rows = try source() as? StoreRows, rows.isSetSource,
                let order = ListOrder(selection.sortDescriptors ?? [], of: fetcher.plan),
                let moment = try rows.moment()
            {
                let reader = ListReader(fetcher: fetcher, selection: selection, order: order, rows: rows)
                return try reader.read(since: former, moment)
            }
            return ReadList(models: try fetcher.models(selection, try source()))
        }
    }
}

/// Reads a list whose rows are known by their keys.
private struct ListReader<Model: CoreModel> {
    let fetcher: StructFetcher<Model>
    let selection: RecordSelection
    let order: ListOrder
    let rows: StoreRows

    func read(since former: ReadList<Model>?, _ moment: StoresMoment) throws -> ReadList<Model> {
        if let kept = former?.kept, let (list, edit) = try change(kept, moment) {
            return ReadList(models: list.models, keys: list.keys, edit: edit, kept: list)
        }
        let (models, keys) = try models(selection)
        guard let keys else { return ReadList(models: models) }
        // Asking turns the log of saves on.
        _ = rows.session.rowsSaved(between: moment, and: moment)
        return ReadList(
            models: models, keys: keys, kept: ListSnapshot(models: models, keys: keys, moment: moment))
    }

    private func change(
        _ kept: ListSnapshot<Model>, _ moment: StoresMoment
    ) throws -> (ListSnapshot<Model>, ListEdit)? {
        // With more changes than that, reading the whole list is faster.
        let most = max(16, kept.models.count / 8)
        guard
            let changed = try rows.keysSaved(
                of: fetcher.plan, fetcher.registry, between: kept.moment, and: moment, atMost: most),
            changed.count <= most
        else { return nil }
        var found: [ListFollower<Model>.Found] = []
        if !changed.isEmpty {
            guard let some = try rows.predicate(of: fetcher.plan, keys: changed) else { return nil }
            let filter = selection.predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [some, $0]) }
            let (models, keys) = try models(RecordSelection(predicate: filter ?? some))
            guard let keys else { return nil }
            found = zip(keys, models).map { .init(key: $0, model: $1) }
        }
        let encoder = RecordEncoder(fetcher.plan.record)
        let follower = ListFollower<Model>(order: order, limit: selection.limit) {
            try encoder.encode($0).values
        }
        // A model that can be read but not encoded has no values by which to find its place.
        do { return try follower.list(kept, changed: changed, found: found, at: moment) } catch { return nil }
    }

    /// The models, and the primary keys of their rows; nil if these cannot be told apart.
    private func models(_ selection: RecordSelection) throws -> ([Model], ContiguousArray<Int64>?) {
        let plan = fetcher.plan
        guard !plan.relationships.isEmpty else {
            return try FlatReader(plan: plan, source: rows).modelsWithKeys(Model.self, selection)
        }
        let found = try rows.rows(of: plan, selection)
        let models = try fetcher.models(of: found, rows)
        return (models, models.count == found.count ? ContiguousArray(found.map(\.objectID.key)) : nil)
    }
}
