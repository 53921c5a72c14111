import StoreSession

/// What a step of a ``MigrationPlan`` does with the rows of one entity.
public struct RecordChange: Sendable {
    /// The entity's name before the step.
    let source: String
    let work: any EntityChange

    package init(source: String, _ work: any EntityChange) { (self.source, self.work) = (source, work) }

    /// A change from the old struct to the new one.
    ///
    /// ```swift
    /// .model(V2.Person.self, to: Person.self) { Person(id: $0.id, fullName: "\($0.first) \($0.last)") }
    /// ```
    ///
    /// Both versions must be those of structs (``ModelVersion/init(_:models:)``). Models and references that the
    /// closure puts into the new struct are saved with it, as `save` does; where it leaves such a property `nil` or
    /// empty, the migration brings along what was there:
    ///
    /// ```swift
    /// .model(V3.Book.self, to: V4.Book.self) { V4.Book(id: $0.id, author: V4.Author(id: $0.author, name: $0.author)) }
    /// ```
    ///
    /// - Parameters:
    ///   - old: the struct as it was.
    ///   - new: the struct as it is to be.
    ///   - convert: called for each model; twice, where the new struct leads to other models: it should do nothing but
    ///     convert. What it throws ends the migration.
    /// - Returns: the change, for ``MigrationPlan/changing(to:_:)``.
    public static func model<Old: CoreModel, New: CoreModel>(
        _ old: Old.Type, to new: New.Type, _ convert: @escaping @Sendable (Old) throws -> New
    ) -> RecordChange {
        let name = (try? EntityDerivation.plan(of: old))?.name ?? "\(old)"
        return RecordChange(source: name, ModelChange(convert: convert))
    }
}

/// A change from one struct to another, a portion of rows at a time.
private struct ModelChange<Old: CoreModel, New: CoreModel>: EntityChange {
    let convert: @Sendable (Old) throws -> New

    func change(_ entity: ChangedEntity) throws {
        let plan = try entity.to.registry.plan(of: New.self)
        let encoder = RecordEncoder(plan.record)
        try forEachPortion(of: entity) { rows in
            let written = try GivenRows(entity)
            try written.load(rows.map(\.row))
            for (row, model) in rows {
                try entity.changing(entity.name(of: row)) {
                    try written.set(encoder.encode(convert(model)).values, of: plan, at: row)
                }
            }
            try written.commit()
        }
    }

    func connect(_ entity: ChangedEntity) throws {
        let registry = entity.to.registry
        guard try !registry.plan(of: New.self).relationships.isEmpty else { return }
        try forEachPortion(of: entity) { rows in
            var graphs: [(row: Row, graph: ModelGraph)] = []
            for (row, model) in rows {
                let graph = try entity.changing(entity.name(of: row)) {
                    try ModelGraph([convert(model)], registry: registry)
                }
                if graph.nodes.count > 1 { graphs.append((row, graph)) }
            }
            guard !graphs.isEmpty else { return }
            let written = try GivenRows(entity)
            try written.load(graphs.map(\.row), and: graphs.map(\.graph))
            for (row, graph) in graphs { try entity.naming(entity.name(of: row)) { try written.write(graph, at: row) } }
            try written.commit()
        }
    }

    /// Reads the old structs.
    private func forEachPortion(
        of entity: ChangedEntity, _ body: ([(row: Row, model: Old)]) throws -> Void
    ) throws {
        let registry = entity.from.registry
        let plan = try registry.plan(of: Old.self)
        let source = StoreRows(entity.source)
        func models(_ rows: ContiguousArray<Row>) throws -> [Old] {
            try StructAssembler(registry: registry, source: source).models(Old.self, of: plan, rows)
        }
        try entity.forEachPortion { identifiers in
            let rows = try source.rows(for: identifiers)
            let read = Result { try models(rows) }
            if case .success(let all) = read, all.count == rows.count {
                return try body(Array(zip(rows, all)))
            }
            // One of them cannot be read: each by itself, the error names it.
            try body(
                rows.flatMap { row in
                    try entity.naming(entity.name(of: row)) { try models([row]) }.map { (row, $0) }
                })
        }
    }
}
