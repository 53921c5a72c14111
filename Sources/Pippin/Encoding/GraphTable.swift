/// The nodes of an entity in a graph, and what is decided once for all of them.
final class GraphTable {
    let number: Int
    let plan: EntityPlan
    /// Whether models of the entity may contain themselves.
    let isCyclic: Bool
    let encoder: RecordEncoder
    // Only one thread at a time uses this, so checking accesses for overlaps would find nothing.
    /// By identifier.
    @exclusivity(unchecked) var nodes = NodePlaces()
    /// The numbers of the tables that the fields lead to, as far as they were asked for; -1 for others.
    @exclusivity(unchecked) var destinations: ContiguousArray<Int>
    /// How many links lead to models of this entity that are about to be linked.
    @exclusivity(unchecked) var expected = 0
    /// Encodes models to compare them with the nodes' values.
    private(set) lazy var comparing = RecordEncoder(plan.record)

    init(_ number: Int, _ plan: EntityPlan, isCyclic: Bool) {
        (self.number, self.plan, self.isCyclic) = (number, plan, isCyclic)
        encoder = RecordEncoder(plan.record)
        destinations = ContiguousArray(repeating: -1, count: plan.fields.count)
    }
}
