import CoreData

/// Rows read from the store without managed objects, in the current state or an earlier one.
final class StoreRows: SetRows, @unchecked Sendable {
    // @unchecked Sendable: the session locks itself, `Locked` the other state.
    let session: StoreSession
    /// The state that is read.
    let scope: ReadScope
    private let slotsByEntity: Locked<[ObjectIdentifier: ContiguousArray<Int>]>
    private let directPlans: Locked<[PlanKey: DirectPlanEntry]>

    init(_ session: StoreSession) {
        self.session = session
        scope = .now
        slotsByEntity = Locked([:])
        directPlans = Locked([:])
    }

    private init(_ other: StoreRows, _ scope: ReadScope) {
        session = other.session
        self.scope = scope
        slotsByEntity = other.slotsByEntity
        directPlans = other.directPlans
    }

    /// The same rows in another state.
    func reading(_ scope: ReadScope) -> StoreRows {
        if case .now = scope, case .now = self.scope { return self }
        return StoreRows(self, scope)
    }

    func slots(of plan: EntityPlan) throws -> ContiguousArray<Int> {
        if let known = slotsByEntity.withLock({ $0[plan.id] }) { return known }
        let entity = try layout(of: plan)
        let slots = ContiguousArray(plan.fields.map { entity.slotIndex(forName: $0.name) ?? -1 })
        slotsByEntity.withLock { $0[plan.id] = slots }
        return slots
    }

    func rows(of plan: EntityPlan, _ selection: RecordSelection) throws -> ContiguousArray<Row> {
        let plan = try fetchPlan(plan, selection)
        return try scope.reading(session) { try session.fetchRows(plan) }
    }

    func forEachRow(
        of plan: EntityPlan, _ selection: RecordSelection, _ body: (any CurrentRow) throws -> Void
    ) throws {
        var failure: (any Error)?
        let plan = try fetchPlan(plan, selection)
        try scope.reading(session) {
            try session.forEachRow(plan) { row in
                do {
                    try body(row)
                } catch {
                    failure = error
                }
                return failure == nil
            }
        }
        if let failure { throw failure }
    }

    func readTuples(
        of plan: EntityPlan, _ selection: RecordSelection, at paths: [AttributePath],
        _ body: (ContiguousArray<StoredValue>) throws -> Void
    ) throws {
        var fetch = try fetchPlan(plan, selection)
        fetch.columns = paths.map { .keyPath($0.path) }
        try scope.reading(session) { try session.readTuples(fetch, body) }
    }

    func rows(of plan: EntityPlan, for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try scope.reading(session) { try session.rows(for: identifiers) }
    }

    func destinations(
        of field: FieldPlan, of plan: EntityPlan, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        guard let relationship = try layout(of: plan).relationship(named: field.name) else { return [] }
        return try scope.reading(session) { try session.destinations(of: relationship, for: identifiers) }
    }

    // MARK: In sets

    /// Whether there is a row with an identifier.
    func has(_ identifier: StoredValue, _ plan: EntityPlan) throws -> Bool {
        var isThere = false
        try forEachRow(of: plan, where: try slots(of: plan)[plan.uidField], isAmong: [identifier]) { _ in
            isThere = true
        }
        return isThere
    }

    /// Whether an entity has no rows.
    func isEmpty(_ plan: EntityPlan) throws -> Bool {
        var fetch = FetchPlan(entity: try layout(of: plan))
        fetch.limit = 1
        return try scope.reading(session) { try session.fetchRows(fetch).isEmpty }
    }

    func forEachRow(
        of plan: EntityPlan, where slot: Int, isAmong values: [StoredValue],
        _ body: (any CurrentRow) throws -> Void
    ) throws {
        let layout = try layout(of: plan)
        try scope.reading(session) {
            try session.forEachRow(of: layout, where: slot, isAmong: values, body)
        }
    }

    /// The plan for saving a model's rows without objects; nil if that is not possible, or the stores do not take
    /// rows.
    func directPlan(_ plan: EntityPlan, _ registry: ModelRegistry) throws -> (DirectPlan, SessionStore)? {
        guard let store = session.onlyStore, store.takesRows else { return nil }
        let model = session.modelLayout
        let key = PlanKey(plan: plan.id, model: ObjectIdentifier(model))
        let known = directPlans.withLock { $0[key] }
        if let known { return known.plan.map { ($0, store) } }
        let made = DirectPlanEntry(plan: try DirectPlan.plan(plan, registry, model))
        directPlans.withLock { $0[key] = made }
        return made.plan.map { ($0, store) }
    }

    private struct PlanKey: Hashable {
        let plan: ObjectIdentifier
        let model: ObjectIdentifier
    }

    private struct DirectPlanEntry {
        let plan: DirectPlan?
    }

    /// Whether there is only one store, so that its rows are related only to each other.
    var isSetSource: Bool { session.onlyStore != nil }

    func forEachRow(
        of plan: EntityPlan, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws { try scope.reading(session) { try session.forEachRow(for: identifiers, body) } }

    func forEachDestination(
        of field: FieldPlan, of plan: EntityPlan, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        guard let relationship = try layout(of: plan).relationship(named: field.name) else { return }
        try scope.reading(session) {
            try session.forEachDestination(of: relationship, for: identifiers, body)
        }
    }

    /// The keys at the end of a to-many relationship, for each of several objects, in their order.
    func keys(
        atEndOf relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> KeyLists {
        var lists = KeyLists(count: identifiers.count)
        try scope.reading(session) {
            try session.forEachKey(atEndOf: relationship, for: identifiers) { lists.add($1, to: $0) }
        }
        return lists
    }

    /// The statement that fetches the rows of a selection; nil for a store that does not run statements.
    func statement(of plan: EntityPlan, _ selection: RecordSelection) throws -> String? {
        try session.statement(of: try fetchPlan(plan, selection))
    }

    private func fetchPlan(_ plan: EntityPlan, _ selection: RecordSelection) throws -> FetchPlan {
        var fetch = FetchPlan(entity: try layout(of: plan))
        fetch.predicate = selection.predicate
        fetch.sortDescriptors = selection.sortDescriptors ?? []
        fetch.limit = selection.limit ?? 0
        fetch.offset = selection.offset
        return fetch
    }

    func layout(of plan: EntityPlan) throws -> EntityLayout {
        let model = session.modelLayout
        guard let layout = model.entityByName[plan.name] else {
            throw PersistenceError.unknownEntity(plan.name, known: model.entities.map(\.name))
        }
        return layout
    }
}

extension StoredValue {
    /// Why a value that is kept in a file beside the store cannot be read; nil for every other value.
    var missingFile: String? { missingExternalData?.sentence }
}

extension NSManagedObject {
    /// Why an attribute's value that is kept in a file beside the store cannot be read; nil if it can.
    func missingFile(of key: String) -> String? {
        missingExternalData[key].map {
            "its value is kept in the file “\($0.path)”, which cannot be read. Put the file back."
        }
    }
}
