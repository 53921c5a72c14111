import StoreSession

/// Decodes models that contain no other models: each row becomes its model at once.
struct FlatReader {
    let plan: EntityPlan
    let source: any StructRows

    /// The selected models, in order.
    func models<Model: CoreModel>(_ type: Model.Type, _ selection: RecordSelection) throws -> [Model] {
        try counted(selection) { expected in
            try models(type, expected) { take in try source.forEachRow(of: plan, selection, take) }
        }
    }

    /// Reads models with an estimate of their number, which is known for fetches of all models.
    private func counted<Model: CoreModel>(
        _ selection: RecordSelection, _ read: (_ expected: Int) throws -> [Model]
    ) rethrows -> [Model] {
        let isAll = selection.predicate == nil && selection.limit == nil && selection.offset == 0
        let models = try read(isAll ? plan.latestCount.withLock { $0 } : 0)
        if isAll { plan.latestCount.withLock { $0 = models.count } }
        return models
    }

    /// The selected models, in order, and the primary keys of their rows.
    func modelsWithKeys<Model: CoreModel>(
        _ type: Model.Type, _ selection: RecordSelection
    ) throws -> ([Model], ContiguousArray<Int64>?) {
        var keys: ContiguousArray<Int64> = []
        let found: [Model] = try counted(selection) { expected in
            try models(type, expected) { take in
                try source.forEachRow(of: plan, selection) { row in
                    try take(row)
                    keys.append(row.key)
                }
            }
        }
        return (found, keys)
    }

    /// The models with identifiers, in the order of the identifiers; identifiers without a model are left out.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - places: the places of the identifiers.
    ///   - identifiers: the identifiers as rows hold them, each once.
    ///   - rows: reads the rows.
    /// - Returns: the models.
    /// - Throws: what reading and decoding throw.
    func models<Model: CoreModel>(
        _ type: Model.Type, _ places: IdentifierPlaces, _ identifiers: [StoredValue], _ rows: StoreRows
    ) throws -> [Model] {
        let slots = try rows.slots(of: plan)
        let slot = slots[plan.uidField]
        let decoder = RowDecoder(plan.record, entity: plan.name, slots: slots)
        defer { decoder.finish() }
        let columns = plan.record.columns?.functions(of: Model.self)
        var models = PlacedModels<Model>(places: places.count)
        try rows.forEachRow(of: plan, where: slot, isAmong: identifiers) { row in
            let model: Model = try decode(row, decoder, columns, slot)
            if let place = places.place(of: try Model.recordKey(of: model.id)) { models.put(model, at: place) }
        }
        return models.take(places.asked)
    }

    /// The model with an identifier; nil where there is none.
    func model<Model: CoreModel>(
        _ type: Model.Type, _ identifier: StoredValue, _ rows: StoreRows
    ) throws -> Model? {
        let slots = try rows.slots(of: plan)
        let slot = slots[plan.uidField]
        let decoder = RowDecoder(plan.record, entity: plan.name, slots: slots)
        defer { decoder.finish() }
        let columns = plan.record.columns?.functions(of: Model.self)
        var model: Model?
        try rows.forEachRow(of: plan, where: slot, isAmong: [identifier]) { row in
            if model == nil { model = try decode(row, decoder, columns, slot) }
        }
        return model
    }

    /// The models of rows.
    ///
    /// - Parameters:
    ///   - type: the models' type.
    ///   - expected: an estimate of their number. That many are decoded directly into the array's memory, which saves
    ///     moving them and growing the array. There may be more, or fewer.
    ///   - rows: hands out the rows.
    /// - Returns: the models, in the order of the rows.
    /// - Throws: what decoding and `rows` throw.
    private func models<Model: CoreModel>(
        _ type: Model.Type, _ expected: Int, _ rows: (_ take: (any CurrentRow) throws -> Void) throws -> Void
    ) throws -> [Model] {
        let slots = try source.slots(of: plan)
        let slot = slots[plan.uidField]
        let decoder = RowDecoder(plan.record, entity: plan.name, slots: slots)
        defer { decoder.finish() }
        let columns = plan.record.columns?.functions(of: Model.self)
        var others = ModelBuffer<Model>()
        let models = try [Model](unsafeUninitializedCapacity: max(expected, 1)) { buffer, count in
            // At least one, since an array with capacity 0 would write to the empty array that all threads share.
            // Unsafe memory: the first `count` of these places are initialized here; they then belong to the array, or
            // are released with it.
            let start = buffer.baseAddress
            try rows { row in
                // A model that goes through a variable is copied, with everything that it refers to, and released.
                if count < expected, let start {
                    (start + count).initialize(to: try decode(row, decoder, columns, slot))
                    count += 1
                } else {
                    others.append(try decode(row, decoder, columns, slot))
                }
            }
        }
        if models.isEmpty { return others.take() }
        // A much too large capacity is not kept.
        if models.count < expected / 2 { return models.withUnsafeBufferPointer { Array($0) } }
        return others.isEmpty ? models : models + others.take()
    }

    @inline(__always)
    private func decode<Model: CoreModel>(
        _ row: any CurrentRow, _ decoder: RowDecoder, _ columns: ColumnFunctionsOf<Model>?, _ slot: Int
    ) throws -> Model {
        do {
            guard let columns else { return try decoder.decode(Model.self, from: row) }
            return try decoder.decode(by: columns, from: row)
        } catch {
            throw plan.named(error, try? row.value(at: slot))
        }
    }
}

extension EntityPlan {
    /// An error of decoding, with the identifier of the model added.
    func named(_ error: any Error, _ uid: StoredValue?) -> any Error {
        guard let uid = uid?.attributeValue(record.attributeKinds[uidField] ?? .string) else { return error }
        guard let known = error as? PersistenceError else {
            return PersistenceError.unreadable(
                entity: name, uid: "\(uid)", key: (error as? DecodingError)?.firstKey ?? "",
                reason: "init(from:) says: \(error.decodingReason)", underlying: error)
        }
        guard known.code == .unreadable, known.identifier == nil else { return known }
        return PersistenceError.unreadable(
            entity: known.entity ?? name, uid: "\(uid)", key: known.property ?? "", reason: known.reason ?? "",
            underlying: known.underlying)
    }
}

/// Models that arrive in any order, each stored at the place of its identifier.
///
/// For models of a generic type; see ``ModelBuffer``.
struct PlacedModels<Model>: ~Copyable {
    // Unsafe memory: the places for which `isThere` is true are initialized, and no other code has the pointers.
    private let start: UnsafeMutablePointer<Model>
    private let isThere: UnsafeMutablePointer<Bool>
    private let places: Int
    private var count = 0

    init(places: Int) {
        (start, isThere, self.places) = (.allocate(capacity: places), .allocate(capacity: places), places)
        isThere.initialize(repeating: false, count: places)
    }

    deinit {
        if count > 0 { for place in 0..<places where isThere[place] { (start + place).deinitialize(count: 1) } }
        start.deallocate()
        isThere.deallocate()
    }

    /// Puts a model at its place, replacing an earlier one.
    @inline(__always)
    mutating func put(_ model: consuming Model, at place: Int) {
        guard place >= 0, place < places else { return }
        if isThere[place] {
            (start + place).pointee = model
        } else {
            (start + place).initialize(to: model)
            isThere[place] = true
            count += 1
        }
    }

    /// Moves the models out.
    ///
    /// - Parameter asked: the places in the order of the list; those without a model are left out.
    /// - Returns: the models.
    mutating func take(_ asked: [Int]) -> [Model] {
        guard count == places, asked.count == places else {
            var models = ModelBuffer<Model>()
            for place in asked where isThere[place] { models.append(start[place]) }
            return models.take()
        }
        // Each place was asked for once, in the order of the places.
        count = 0
        return Array(unsafeUninitializedCapacity: places) { buffer, initialized in
            buffer.baseAddress?.moveInitialize(from: start, count: places)
            initialized = places
        }
    }
}
