import StoreSession

/// Rows read from the store without managed objects, in the current state or an earlier one.
final class StoreRows: SetRows, ChangeableRows, @unchecked Sendable {
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

    /// The rows with some IDs, of any entity; deleted ones are left out.
    func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        try scope.reading(session) { try session.rows(for: identifiers) }
    }

    /// The IDs of the rows of a selection.
    func identifiers(of plan: EntityPlan, _ selection: RecordSelection) throws -> [NSManagedObjectID] {
        let fetch = try fetchPlan(plan, selection)
        return try scope.reading(session) { try session.fetchIdentifiers(fetch, stores: nil) }
    }

    func destinations(
        of field: FieldPlan, of plan: EntityPlan, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        guard let relationship = try layout(of: plan).relationship(named: field.name) else { return [] }
        return try destinations(of: relationship, for: identifiers)
    }

    func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try scope.reading(session) { try session.destinations(of: relationship, for: identifiers) }
    }

    func newRow(_ layout: EntityLayout) -> Row? { nil }
    var followsDeleteRules: Bool { true }
    func check(_ layout: EntityLayout) throws { try layout.checkIsPlain() }

    func count(of plan: EntityPlan, _ selection: RecordSelection) throws -> Int {
        let fetch = try fetchPlan(plan, selection)
        return try scope.reading(session) { try session.fetchCount(fetch, stores: nil) }
    }

    func has(of plan: EntityPlan, _ selection: RecordSelection) throws -> Bool {
        var fetch = try fetchPlan(plan, selection)
        fetch.limit = 1
        return try scope.reading(session) { try !session.fetchIdentifiers(fetch, stores: nil).isEmpty }
    }

    func computed(
        of plan: EntityPlan, _ predicate: NSPredicate?, _ complete: (inout FetchPlan) -> Void
    ) throws -> [[String: Any]] {
        var fetch = try fetchPlan(plan, RecordSelection(predicate: predicate))
        complete(&fetch)
        return try scope.reading(session) { try session.fetchDictionaries(fetch, stores: nil) }
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

    func fetchPlan(_ plan: EntityPlan, _ selection: RecordSelection) throws -> FetchPlan {
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

/// How a model's rows are saved without managed objects.
final class DirectPlan: Sendable {
    let plan: EntityPlan
    let layout: EntityLayout
    /// The slot of each field; -1 for a relationship.
    let slots: ContiguousArray<Int>
    /// The field of each slot; -1 for a slot that the model has no field for, or that saves fill in.
    let fields: ContiguousArray<Int>
    /// The fields with values in slots, the slots, the plan of a nested value, which is compared part by part, and
    /// whether a value that differs is merged into the stored one.
    let comparisons: ContiguousArray<(field: Int, slot: Int, composite: RecordPlan?, isMerged: Bool)>
    let members: [Member]
    let toOnes: [ToOne]
    let manys: [Many]

    /// A relationship to models of which each can be in one model only.
    struct Member: Sendable {
        let field: Int
        let relationship: RelationshipLayout
        /// The slot of a member's row that has its owner.
        let ownerSlot: Int
        let destination: DirectPlan
        /// Whether members that leave the relationship are deleted.
        let isOwned: Bool
    }

    /// A relationship to a model that may be in many models, or a reference to it.
    struct ToOne: Sendable {
        let field: Int
        let slot: Int
        let isRequired: Bool
        /// The inverse relationship, whose changes count as changes of the destination.
        let inverse: RelationshipLayout?
        let destination: DirectPlan
        let isReference: Bool
    }

    /// A relationship to models that may each be in many models, or references to them.
    struct Many: Sendable {
        let field: Int
        let relationship: RelationshipLayout
        /// The inverse relationship, whose changes count as changes of the destinations.
        let inverse: RelationshipLayout
        let destination: DirectPlan
        let isReference: Bool
    }

    /// The relationships of a model.
    struct Relationships {
        var members: [Member] = []
        var toOnes: [ToOne] = []
        var manys: [Many] = []
    }

    init(
        _ plan: EntityPlan, _ layout: EntityLayout, _ slots: ContiguousArray<Int>, _ attributes: [Int],
        _ relationships: Relationships = Relationships()
    ) {
        (self.plan, self.layout, self.slots) = (plan, layout, slots)
        (members, toOnes, manys) = (relationships.members, relationships.toOnes, relationships.manys)
        var fields = ContiguousArray(repeating: -1, count: layout.defaultValues.count)
        let given = plan.stamps.isEmpty ? attributes : attributes.filter { !plan.isStamped($0) }
        for field in given { fields[slots[field]] = field }
        self.fields = fields
        comparisons = ContiguousArray(
            given.map { field in
                var composite: RecordPlan?
                if case .composite(let record) = plan.fields[field].kind { composite = record }
                return (field, slots[field], composite, plan.fields[field].isMerged)
            })
    }

    /// Whether a relationship is a property of the model.
    func has(_ relationship: RelationshipLayout) -> Bool {
        members.contains { $0.relationship === relationship } || manys.contains { $0.relationship === relationship }
    }

    /// Whether its objects can be deleted without any further work.
    var isLeaf: Bool { members.isEmpty && layout.relationships.count == 1 }

    /// Whether the store prevents two rows with one identifier. If others insert a model that was not
    /// found, the save is refused.
    var isFoundByUniqueIdentifier: Bool {
        layout.uniquenessConstraints.contains([plan.fields[plan.uidField].name])
    }
}
