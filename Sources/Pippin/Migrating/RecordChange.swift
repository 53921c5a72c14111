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

extension SchemaRule {
    /// The property is new, and is made of one that the model had before. `load()` calls the closure once for each
    /// stored model when a store still has the former property, and then lets that one go, unless the model has it
    /// still.
    ///
    /// ```swift
    /// Schema(
    ///     .derived(\.firstName, from: "assignee") { (name: String) in String(name.prefix { $0 != " " }) },
    ///     .derived(\.lastName, from: "assignee") { (name: String) in String(name.drop { $0 != " " }.dropFirst()) })
    /// ```
    ///
    /// Several properties may be made of one. Where the closure needs more of the model, use a ``MigrationPlan``. The
    /// rule can be deleted once no store has the former property.
    ///
    /// - Parameters:
    ///   - keyPath: the new property of the model itself. Models and references are not derived.
    ///   - former: the name of the former property: a number, text or other single value; `Former` is optional if it
    ///     was.
    ///   - convert: makes the value. What it throws ends the migration, and the store is as it was.
    /// - Returns: the rule, for ``Schema``.
    public static func derived<Value: Encodable & Sendable, Former: Decodable & Sendable>(
        _ keyPath: KeyPath<Model, Value>, from former: String, _ convert: @escaping @Sendable (Former) throws -> Value
    ) -> Self {
        Self(
            fact: .derived(PropertyName(keyPath), from: former) { stored, entity in
                try convert(AttributeDecoder.value(Former.self, stored, entity: entity, key: former))
            })
    }
}

/// New values of an entity that are made of former ones, one by one.
private struct DerivedValues: EntityChange {
    struct Value: Sendable {
        let field: FieldPlan
        let former: String
        /// Makes the value of a stored one, of an entity.
        let make: @Sendable (StoredValue, String) throws -> any Encodable & Sendable
    }

    let values: [Value]

    func change(_ entity: ChangedEntity) throws {
        let source = StoreRows(entity.source)
        try entity.forEachPortion { identifiers in
            let rows = try source.rows(for: identifiers)
            let written = try GivenRows(entity)
            try written.load(Array(rows))
            for row in rows {
                try entity.changing(entity.name(of: row)) {
                    for value in values {
                        guard let slot = entity.old.slotIndex(forName: value.former) else { continue }
                        let made = try value.make(row.values[slot], entity.old.name)
                        let encoder = RecordEncoder(RecordPlan(name: value.field.name, fields: [value.field]))
                        try encoder.set(made, at: 0)
                        written.set(encoder.values[0], named: value.field.name, at: row)
                    }
                }
            }
            try written.commit()
        }
    }
}

extension ModelRegistry {
    /// The plan that brings a store to a model of these entities, and makes the values that are derived.
    ///
    /// - Throws: ``PersistenceError`` for a store that cannot be brought there.
    func plan(deriving store: any ReconcilableStore) throws -> CheckedPlan {
        var changes: [RecordChange] = []
        for plan in plans {
            guard let derived = store.reconciliation.derived[plan.name] else { continue }
            let values = plan.facts.compactMap { fact -> DerivedValues.Value? in
                guard case .derived(let property, let former, let make) = fact, let name = property.path,
                    derived[name] == former, let field = plan.field(named: name)
                else { return nil }
                return DerivedValues.Value(field: field, former: former, make: make)
            }
            let source = store.reconciliation.formerName(ofEntity: plan.name) ?? plan.name
            changes.append(RecordChange(source: source, DerivedValues(values: values)))
        }
        let migration = MigrationPlan(from: ModelVersion("of the store", .built(store.source))).adding(
            .changing(changes), ModelVersion("of the program", .built(store.model)))
        return try CheckedPlan(migration, over: [store.source, store.model])
    }
}
