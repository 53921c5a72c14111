import CoreData

/// Loads the rows that models lead to, level by level, each level of an entity at once.
struct RelatedRowLoader {
    private(set) var rows: [NSManagedObjectID: Row] = [:]
    /// What relationships to many lead to, by object and field.
    private(set) var destinations: [NSManagedObjectID: [Int: [NSManagedObjectID]]] = [:]
    private let registry: ModelRegistry
    private let source: any RowSource

    init(registry: ModelRegistry, source: any RowSource) {
        self.registry = registry
        self.source = source
    }

    /// - Parameter first: the rows whose models are wanted.
    mutating func load(_ first: ContiguousArray<Row>, of plan: EntityPlan) throws {
        var level: [(plan: EntityPlan, rows: ContiguousArray<Row>)] = [(plan, first)]
        // Rows of references are read for their identifiers, and not followed.
        var followed = Set(first.map(\.objectID))
        while !level.isEmpty {
            var next: [(plan: EntityPlan, rows: ContiguousArray<Row>)] = []
            for (plan, rows) in level {
                for index in plan.relationships {
                    guard let related = plan.fields[index].related else { continue }
                    let destination = try registry.plan(related)
                    let wanted = unique(try identifiers(index, of: plan, rows))
                    let missing = wanted.filter { self.rows[$0] == nil }
                    if !missing.isEmpty {
                        for row in try source.rows(of: destination, for: missing) { self.rows[row.objectID] = row }
                    }
                    guard !related.isReference else { continue }
                    let new = wanted.filter { followed.insert($0).inserted }.compactMap { self.rows[$0] }
                    if !new.isEmpty { next.append((destination, ContiguousArray(new))) }
                }
            }
            level = next
        }
    }

    private mutating func identifiers(
        _ index: Int, of plan: EntityPlan, _ rows: ContiguousArray<Row>
    ) throws -> [NSManagedObjectID] {
        let field = plan.fields[index]
        guard field.isToMany else {
            let slot = try source.slots(of: plan)[index]
            return rows.compactMap { row in
                if case .identifier(let identifier) = row.values[slot] { return identifier }
                return nil
            }
        }
        let sources = rows.map(\.objectID)
        let found = try source.destinations(of: field, of: plan, for: sources)
        for (identifier, targets) in zip(sources, found) { destinations[identifier, default: [:]][index] = targets }
        return found.flatMap { $0 }
    }

    private func unique(_ identifiers: [NSManagedObjectID]) -> [NSManagedObjectID] {
        var seen: Set<NSManagedObjectID> = []
        return identifiers.filter { seen.insert($0).inserted }
    }
}
