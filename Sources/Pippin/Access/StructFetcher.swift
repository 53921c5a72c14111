import StoreSession

/// Fetches the models of a type from rows.
struct StructFetcher<Model: CoreModel>: Sendable {
    let plan: EntityPlan
    let registry: ModelRegistry

    func selection(
        _ filter: Filter<Model>, _ order: Order<Model> = [], _ limit: Int? = nil, _ offset: Int = 0
    ) throws -> RecordSelection {
        var selection = RecordSelection(predicate: try filter.predicate(plan, registry))
        selection.sortDescriptors = order.terms.isEmpty ? nil : try order.sortDescriptors(plan, registry)
        selection.limit = limit
        selection.offset = offset
        return selection
    }

    /// The selection of a request. Pages need a total order, which the identifier completes.
    func selection(_ request: ModelRequest<Model>) throws -> RecordSelection {
        var selection = try selection(request.filter, request.order, request.limit, request.offset)
        if let (page, place) = try place(request) {
            selection.sortDescriptors = page.sortDescriptors
            selection.narrow(to: page.predicate(after: place))
        } else if request.limit != nil {
            let known = selection.sortDescriptors ?? []
            if !known.contains(where: { $0.key == plan.uidKey && $0.isLexical }) {
                selection.sortDescriptors = known + [NSSortDescriptor(key: plan.uidKey, ascending: true)]
            }
        }
        return selection
    }

    /// Reads what a request selects: of what comes after a model, first what an index leads to.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - read: reads what a selection has.
    /// - Returns: what the request selects.
    /// - Throws: what making the selection and reading throw.
    func reading<Element>(
        _ request: ModelRequest<Model>, _ read: (RecordSelection) throws -> [Element]
    ) throws -> [Element] {
        let selection = try selection(request)
        if let limit = request.limit, limit > 0, let (page, place) = try place(request),
            let rest = page.nearestPredicate(after: place)
        {
            var nearest = selection
            nearest.predicate = try request.filter.predicate(plan, registry)
            nearest.narrow(to: rest)
            let elements = try read(nearest)
            if elements.count == limit { return elements }
        }
        return try read(selection)
    }

    /// The place after which a request begins; nil for one that begins at the beginning.
    private func place(_ request: ModelRequest<Model>) throws -> (Page, [Any?])? {
        guard request.last != nil || request.cursor != nil else { return nil }
        let page = try Page(request.order, plan, registry)
        if let cursor = request.cursor { return (page, try page.place(at: cursor)) }
        return try request.last.map { (page, page.place(of: try RecordEncoder(plan.record).encode($0).values)) }
    }

    func selection(id: Model.ID) throws -> RecordSelection {
        var selection = RecordSelection.key(try Model.keyValue(of: id), named: plan.uidKey)
        selection.limit = 1
        return selection
    }

    func models(_ selection: RecordSelection, _ source: any StructRows) throws -> [Model] {
        // Core Data would take a limit of 0 for no limit.
        if selection.limit.map({ $0 <= 0 }) ?? false { return [] }
        if plan.relationships.isEmpty {
            return try FlatReader(plan: plan, source: source).models(Model.self, selection)
        }
        return try models(of: try source.rows(of: plan, selection), source)
    }

    /// The models of rows, in their order, with all models in them.
    func models(of rows: ContiguousArray<Row>, _ source: any StructRows) throws -> [Model] {
        if let sets = source as? any SetRows, sets.isSetSource, registry.isTree(plan) {
            // On any error, the assembler gives a better message or finds another way.
            if let models = try? TreeReader(registry: registry, source: sets).models(Model.self, of: plan, rows) {
                return models
            }
        }
        return try StructAssembler(registry: registry, source: source).models(Model.self, of: plan, rows)
    }

    /// The model with an identifier; nil where there is none.
    func model(_ id: Model.ID, _ source: any StructRows) throws -> Model? {
        // One statement that is always the same: nothing has to be parsed, translated or looked up for it.
        if let rows = source as? StoreRows, rows.isSetSource,
            let value = StoredValue(try Model.recordKey(of: id), of: plan.record.attributeKinds[plan.uidField])
        {
            if plan.relationships.isEmpty {
                return try FlatReader(plan: plan, source: source).model(Model.self, value, rows)
            }
            if let models = models([value], rows) { return models.first }
        }
        return try models(try selection(id: id), source).first
    }

    /// The models with identifiers, in their order; identifiers without a model are left out.
    func models(inOrderOf ids: [Model.ID], _ source: any StructRows) throws -> [Model] {
        let kind = plan.record.attributeKinds[plan.uidField]
        var places = IdentifierPlaces(capacity: ids.count, kind)
        var values: [StoredValue]? = []
        values?.reserveCapacity(ids.count)
        // Loops by index, over memory: iterators of lists of models' own types are slow.
        try ids.withUnsafeBufferPointer { ids in
            for index in 0..<ids.count {
                let key = try Model.recordKey(of: ids[index])
                guard places.add(key) else { continue }
                if let value = StoredValue(key, of: kind) { values?.append(value) } else { values = nil }
            }
        }
        if let rows = source as? StoreRows, rows.isSetSource, plan.relationships.isEmpty, let values {
            return try FlatReader(plan: plan, source: source).models(Model.self, places, values, rows)
        }
        let found = try models(ids, values, source)
        // For each identifier, the position of its model among the models found.
        var positions = Array(repeating: -1, count: places.count)
        return try found.withUnsafeBufferPointer { found in
            for position in 0..<found.count {
                if let place = places.place(of: try Model.recordKey(of: found[position].id)) {
                    positions[place] = position
                }
            }
            var models = ModelBuffer<Model>()
            for place in places.asked where positions[place] >= 0 { models.append(found[positions[place]]) }
            return models.take()
        }
    }

    /// The models with identifiers, in any order.
    ///
    /// - Parameters:
    ///   - ids: the identifiers.
    ///   - values: the identifiers as rows hold them, each once; nil if one of them has no such form.
    ///   - source: what reads the rows.
    /// - Returns: the models.
    /// - Throws: what reading throws.
    private func models(_ ids: [Model.ID], _ values: [StoredValue]?, _ source: any StructRows) throws -> [Model] {
        if let rows = source as? StoreRows, rows.isSetSource, let values, let models = models(values, rows) {
            return models
        }
        var seen: Set<RecordKey> = []
        let distinct = try ids.filter { seen.insert(try Model.recordKey(of: $0)).inserted }
        return try distinct.portions().flatMap { portion in
            let keys = try portion.map { try Model.keyValue(of: $0) }
            return try models(.keys(keys, named: plan.uidKey), source)
        }
    }

    /// The models with others in them that have one of some identifiers, in any order; nil if the assembler must
    /// put them together.
    private func models(_ identifiers: [StoredValue], _ rows: StoreRows) -> [Model]? {
        guard registry.isTree(plan) else { return nil }
        return try? TreeReader(registry: registry, source: rows)
            .models(Model.self, of: plan, withOneOf: identifiers, rows)
    }
}
