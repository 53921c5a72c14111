import CoreData

/// Makes what rows stand for while they are handed out.
class MemberSink {
    /// Takes the row that is handed out.
    func take(_ row: any CurrentRow) throws {}
    /// Everything that was taken.
    func list() throws -> MemberList { MemberList() }

    /// What takes the rows of an entity; nil for rows that must be kept, since their models lead on.
    static func sink(_ plan: EntityPlan, isReference: Bool, source: any StructRows) throws -> MemberSink? {
        let slots = try source.slots(of: plan)
        if isReference { return ReferenceSink(plan, slot: slots[plan.uidField]) }
        guard plan.relationships.isEmpty else { return nil }
        func sink<Model: CoreModel>(_ type: Model.Type) -> MemberSink { ModelSink<Model>(plan, slots: slots) }
        return sink(plan.type)
    }
}

/// Decodes models that lead nowhere.
private final class ModelSink<Model: CoreModel>: MemberSink {
    private let decoder: RowDecoder
    private var models = ModelBuffer<Model>()

    init(_ plan: EntityPlan, slots: ContiguousArray<Int>) {
        decoder = RowDecoder(plan.record, entity: plan.name, slots: slots)
    }

    deinit { decoder.finish() }

    override func take(_ row: any CurrentRow) throws { models.append(try decoder.decode(Model.self, from: row)) }
    override func list() -> MemberList { FinishedModels(models.take()) }
}

/// Keeps identifiers for references.
private final class ReferenceSink: MemberSink {
    private let plan: EntityPlan
    private let slot: Int
    private var keys = ContiguousArray<StoredValue>()

    init(_ plan: EntityPlan, slot: Int) {
        self.plan = plan
        self.slot = slot
    }

    override func take(_ row: any CurrentRow) throws { keys.append(try row.value(at: slot)) }
    override func list() -> MemberList { ReferencedKeys(keys, of: plan) }
}
