import CoreData

/// Makes models without models in them: each row becomes its model at once.
struct FlatReader {
    let plan: EntityPlan
    let source: any StructRows

    /// The models that are selected, in order.
    func models<Model: CoreModel>(_ type: Model.Type, _ selection: RecordSelection) throws -> [Model] {
        try models(type) { take in try source.forEachRow(of: plan, selection, take) }
    }

    #if !canImport(ObjectiveC)
        /// The models with one of some identifiers, in any order.
        func models<Model: CoreModel>(
            _ type: Model.Type, withOneOf identifiers: [StoredValue], _ rows: StoreRows
        ) throws -> [Model] {
            let slot = try rows.slots(of: plan)[plan.uidField]
            return try models(type) { take in try rows.forEachRow(of: plan, where: slot, isAmong: identifiers, take) }
        }

        /// The model with an identifier; nil where there is none.
        func model<Model: CoreModel>(
            _ type: Model.Type, _ identifier: StoredValue, _ rows: StoreRows
        ) throws -> Model? {
            let slots = try rows.slots(of: plan)
            let slot = slots[plan.uidField]
            let decoder = RowDecoder(plan.record, entity: plan.name, slots: slots)
            defer { decoder.finish() }
            var model: Model?
            try rows.forEachRow(of: plan, where: slot, isAmong: [identifier]) { row in
                if model == nil { model = try decode(row, decoder, slot) }
            }
            return model
        }
    #endif

    private func models<Model: CoreModel>(
        _ type: Model.Type, _ rows: (_ take: (any CurrentRow) throws -> Void) throws -> Void
    ) throws -> [Model] {
        let slots = try source.slots(of: plan)
        let slot = slots[plan.uidField]
        let decoder = RowDecoder(plan.record, entity: plan.name, slots: slots)
        defer { decoder.finish() }
        var models = ModelBuffer<Model>()
        try rows { row in models.append(try decode(row, decoder, slot)) }
        return models.take()
    }

    @inline(__always)
    private func decode<Model: CoreModel>(
        _ row: any CurrentRow, _ decoder: RowDecoder, _ slot: Int
    ) throws -> Model {
        do {
            return try decoder.decode(Model.self, from: row)
        } catch {
            throw plan.named(error, try? row.value(at: slot))
        }
    }
}

extension EntityPlan {
    /// An error of decoding, with the identifier of the model that it is about.
    func named(_ error: any Error, _ uid: StoredValue?) -> any Error {
        guard let uid = uid?.attributeValue(record.attributeKinds[uidField] ?? .string) else { return error }
        guard let known = error as? PersistenceError else {
            return PersistenceError.unreadable(
                entity: name, uid: "\(uid)", key: "", reason: "init(from:) says: \(error.decodingReason)")
        }
        guard known.code == .unreadable, known.identifier == nil else { return known }
        return PersistenceError.unreadable(
            entity: known.entity ?? name, uid: "\(uid)", key: known.property ?? "", reason: known.reason ?? "")
    }
}
