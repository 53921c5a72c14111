import StoreSession

/// What becomes of a model that is in a save several times, by itself or within others.
enum RepeatedModels {
    /// Its copies must agree.
    case mustAgree
    /// It must be given once. Copies within others must agree.
    case mustDiffer
    /// The copy in the last of the given models counts, as if these were saved one after the other.
    case lastCounts
}

extension GraphBuilder {
    /// How two given models follow each other.
    enum RecordOrder { case earlier, same, later }

    /// Compares models with the ones that their nodes were made for, or puts them into their places.
    ///
    /// - Parameters:
    ///   - models: a list.
    ///   - picks: the indexes of the models, and their nodes.
    ///   - record: the number of the given model that the list is in.
    ///   - areWhole: whether the relationships of the models are complete.
    /// - Throws: ``PersistenceError/Code/unwritable`` if one differs that must not.
    mutating func takeCopies<Model: CoreModel>(
        _ models: [Model], _ picks: Picks, record: Int, areWhole: Bool
    ) throws {
        guard let first = picks.first else { return }
        // Models of one list are of one type.
        let table = tables[nodes[first.node].table]
        let columns = table.encoder.columns(of: Model.self)
        let start = ModelOrigins.start(of: models, table.plan)
        try models.forEachInPlace(picks.count, { picks[$0].index }) { place, model in
            let (index, node) = picks[place]
            // Another copy may have been put into its place meanwhile.
            if repeated == .lastCounts, isCopy(&model, start, of: node, table, record: record) { return }
            switch order(of: record, at: node) {
            case .same: try compare(&model, with: node, table, columns, record: record, isWhole: areWhole)
            case .earlier:
                let links = try encode(&model, node, table, by: table.comparing, columns).links
                defer { table.comparing.removeAll() }
                try leave(targets(of: links, from: node, record: record), of: node, for: nodes[node].links)
            case .later:
                let encoded = try encode(&model, node, table, by: table.encoder, columns)
                let links = try targets(of: encoded.links, from: node, record: record)
                try leave(nodes[node].links, of: node, for: links)
                replace(node, row: encoded.row, links, record: record, isWhole: areWhole)
                origins.set(node, ModelOrigins.origin(start, index, Model.self))
            }
        }
    }

    /// Checks that a model is the same as its node.
    private mutating func compare<Model: CoreModel>(
        _ model: inout Model, with node: Int, _ table: GraphTable, _ columns: ColumnFunctionsOf<Model>?, record: Int,
        isWhole: Bool
    ) throws {
        // Where a model of its cycle leads to it, lists may be cut off.
        let isCut = table.isCyclic && !(isWhole && self.isWhole(node, table))
        let encoder = table.comparing
        let encoded = try encode(&model, node, table, by: encoder, columns)
        defer { encoder.removeAll() }
        let original = nodes[node].row
        for field in table.plan.fields.indices {
            if isCut, case .hasList? = table.plan.fields[field].mark { continue }
            let (one, other) = (table.encoder.values[original + field], encoder.values[encoded.row + field])
            if one == other { continue }
            if case .composite(let inner) = table.plan.fields[field].kind,
                inner.isSame(one.composite, other.composite)
            {
                continue
            }
            if try !encodesTheSame(model, as: node, field, table.plan) { throw differs(node, field) }
        }
        if isCut { return }
        let links = try targets(of: encoded.links, from: node, record: record)
        for field in table.plan.relationships {
            let known = nodes[node].links.first { $0.field == field }?.targets ?? []
            let found = links.first { $0.field == field }?.targets ?? []
            guard known != found else { continue }
            if case .toMany(_, isOrdered: false) = table.plan.fields[field].kind, Set(known) == Set(found) { continue }
            throw differs(node, field)
        }
    }

    /// Whether a field whose stored forms differ nevertheless has the same value: one with sets, or dictionaries that
    /// are encoded as lists, within other values.
    private mutating func encodesTheSame<Model: CoreModel>(
        _ model: Model, as node: Int, _ field: Int, _ plan: EntityPlan
    ) throws -> Bool {
        switch plan.fields[field].kind {
        case .json, .composite:
            guard let original = origins.model(node, of: plan, Model.self) else { return false }
            let options = CodedTree.Options(key: plan.fields[field].key)
            return try CodedTree(original, options).bytes == CodedTree(model, options).bytes
        case .attribute, .toOne, .toMany: return false
        }
    }

    /// Notes what a model no longer leads to, since a later copy of it counts.
    ///
    /// - Throws: ``PersistenceError/Code/unwritable`` for an owned model: one after the other, it would be saved and
    ///   then deleted.
    private mutating func leave(_ former: [Link], of node: Int, for links: [Link]) throws {
        for link in former {
            let kept = links.first { $0.field == link.field }?.targets ?? []
            guard kept != link.targets, !Set(link.targets).isSubset(of: kept) else { continue }
            if nodes[node].plan.owns(nodes[node].plan.fields[link.field]) { throw differs(node, link.field) }
            hasLeftModels = true
        }
    }

    private mutating func differs(_ node: Int, _ field: Int) -> PersistenceError {
        var field = nodes[node].plan.fields[field]
        // The mark of a list is not a property.
        if case .hasList(let list)? = field.mark { field = nodes[node].plan.fields[list] }
        return PersistenceError.unwritable(
            entity: nodes[node].plan.name, uid: nodes[node].key.text, key: field.name,
            reason:
                "it is in this save several times, with different values of '\(field.name)', and only one could be stored. Save the "
                + "right one, or change all of its copies.")
    }
}
