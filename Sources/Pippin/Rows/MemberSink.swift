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

/// A growing list of models, for code in which their type is generic.
///
/// In code that is not specialized for one type, an array looks up its own type for each added element, which took a
/// twentieth of a fetch. This memory is moved into an array once, at the end.
struct ModelBuffer<Model>: ~Copyable {
    // Unsafe memory: the first `count` of `capacity` places are initialized, and no other code has the pointer.
    private var start: UnsafeMutablePointer<Model>
    private var capacity = 64
    private var count = 0

    var isEmpty: Bool { count == 0 }

    init() { start = .allocate(capacity: capacity) }

    deinit {
        start.deinitialize(count: count)
        start.deallocate()
    }

    @inline(__always)
    mutating func append(_ model: consuming Model) {
        if count == capacity { grow() }
        (start + count).initialize(to: model)
        count += 1
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Model>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: start, count: count)
        start.deallocate()
        (start, capacity) = (larger, capacity * 2)
    }

    /// Moves all models out, in their order.
    mutating func take() -> [Model] {
        let taken = count
        count = 0
        return Array(unsafeUninitializedCapacity: taken) { buffer, initialized in
            buffer.baseAddress?.moveInitialize(from: start, count: taken)
            initialized = taken
        }
    }
}
