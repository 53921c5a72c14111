import StoreSession

/// Makes models or references from rows as they are handed out.
protocol MemberSink: AnyObject {
    /// Takes the row that is handed out.
    func take(_ row: any CurrentRow) throws
    /// Everything made so far.
    func list() -> any MemberList
}

extension EntityPlan {
    /// A sink for the entity's rows; nil if the rows must be kept, since their models lead to others.
    func memberSink(isReference: Bool, source: any StructRows) throws -> (any MemberSink)? {
        let slots = try source.slots(of: self)
        if isReference { return ReferenceSink(self, slot: slots[uidField]) }
        guard relationships.isEmpty else { return nil }
        return type.memberSink(self, slots)
    }
}

extension CoreModel {
    fileprivate static func memberSink(_ plan: EntityPlan, _ slots: ContiguousArray<Int>) -> any MemberSink {
        ModelSink<Self>(plan, slots: slots)
    }
}

/// Decodes models that lead to no others.
private final class ModelSink<Model: CoreModel>: MemberSink {
    private let decoder: RowDecoder
    private let columns: ColumnFunctionsOf<Model>?
    // Only the reader of one relationship uses the sink, so checking its accesses for overlaps would find nothing.
    @exclusivity(unchecked) private var models = ModelBuffer<Model>()

    init(_ plan: EntityPlan, slots: ContiguousArray<Int>) {
        decoder = RowDecoder(plan.record, entity: plan.name, slots: slots)
        columns = plan.record.columns?.functions(of: Model.self)
    }

    deinit { decoder.finish() }

    func take(_ row: any CurrentRow) throws {
        if let columns {
            models.append(try decoder.decode(by: columns, from: row))
        } else {
            models.append(try decoder.decode(Model.self, from: row))
        }
    }

    func list() -> any MemberList { FinishedModels(models.take()) }
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

    func take(_ row: any CurrentRow) throws { keys.append(try row.value(at: slot)) }
    func list() -> any MemberList { ReferencedKeys(keys, of: plan) }
}
