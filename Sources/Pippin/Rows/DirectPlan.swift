import StoreSession

/// How a model's rows are saved without managed objects.
final class DirectPlan: Sendable {
    let plan: EntityPlan
    let layout: EntityLayout
    /// The slot of each field; -1 for a relationship.
    let slots: ContiguousArray<Int>
    /// The field of each slot; -1 for a slot that the model has no field for.
    let fields: ContiguousArray<Int>
    /// The fields with values in slots, the slots, the plan of a nested value, which is compared part by part, and
    /// whether a value that differs is merged into the stored one.
    let comparisons: ContiguousArray<(field: Int, slot: Int, composite: RecordPlan?, isMerged: Bool)>
    let members: [Member]
    let toOnes: [ToOne]
    let manys: [Many]
    /// The fields that must have a value.
    let required: [Int]

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
        for field in attributes { fields[slots[field]] = field }
        self.fields = fields
        comparisons = ContiguousArray(
            attributes.map { field in
                var composite: RecordPlan?
                if case .composite(let record) = plan.fields[field].kind { composite = record }
                return (field, slots[field], composite, plan.fields[field].isMerged)
            })
        let needed = Set(layout.requiredSlots ?? [])
        required = attributes.filter { needed.contains(slots[$0]) }
    }

    /// Whether its objects can be deleted without any further work.
    var isLeaf: Bool { members.isEmpty && layout.relationships.count == 1 }

    /// Whether the store prevents two rows with one identifier. If others insert a model that was not
    /// found, the save is refused.
    var isFoundByUniqueIdentifier: Bool {
        layout.uniquenessConstraints.contains([plan.fields[plan.uidField].name])
    }
}
