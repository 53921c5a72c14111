import CoreData

/// Where the models of a graph's nodes are among the lists that were given.
struct ModelOrigins {
    private var places: ContiguousArray<(list: Int32, index: Int32)> = []

    mutating func reserve(_ count: Int) { places.reserveCapacity(places.count + count) }

    /// Adds a node without a model, as references are.
    mutating func append() { places.append((-1, -1)) }

    mutating func set(_ node: Int, list: Int, index: Int) {
        places[node] = (Int32(truncatingIfNeeded: list), Int32(truncatingIfNeeded: index))
    }

    /// Whether a model is certainly equal to the one that a node was made for, since its memory is. It is passed
    /// `inout` to avoid a copy, and not changed.
    func isCopy<Model: CoreModel>(
        _ model: inout Model, of node: Int, in lists: ContiguousArray<any WaitingModels>
    ) -> Bool {
        let (list, index) = (Int(places[node].list), Int(places[node].index))
        guard lists.indices.contains(list), let known = lists[list] as? WaitingModelList<Model> else { return false }
        return known.models.withUnsafeBufferPointer { models in
            guard models.indices.contains(index), let start = models.baseAddress else { return false }
            // Unsafe memory: both are read only, and are models as a whole.
            return withUnsafeBytes(of: &model) {
                $0.baseAddress.map { memcmp(start + index, $0, MemoryLayout<Model>.size) == 0 } ?? false
            }
        }
    }
}

extension ModelGraph {
    /// Compares models with the ones that their nodes were made for.
    ///
    /// - Parameters:
    ///   - models: a list.
    ///   - picks: the indexes of the models to compare, and their nodes.
    /// - Throws: ``PersistenceError/Code/unwritable`` if one differs.
    mutating func compare<Model: CoreModel>(
        _ models: [Model], _ picks: ContiguousArray<(index: Int, node: Int)>
    ) throws {
        guard let first = picks.first else { return }
        // Models of one list are of one type.
        let plan = nodes[first.node].plan
        let encoder = RecordEncoder(plan.record)
        for (index, node) in picks {
            let encoded: EncodedRecord
            do { encoded = try encoder.encode(models[index]) } catch {
                throw PersistenceError.unwritable(
                    entity: plan.name, uid: nodes[node].key.text,
                    key: error is EncodingError ? encoder.lastProperty : nil, reason: error.encodingReason)
            }
            if let field = plan.record.firstDifference(encodedValues(of: node), encoded.values) {
                throw differs(node, field)
            }
            var links: [Int: [Int]] = [:]
            for link in encoded.links { links[link.field] = try targets(of: link, from: node) }
            for field in plan.relationships {
                let (known, found) = (targets(of: node, field), links[field] ?? [])
                guard known != found else { continue }
                if case .toMany(_, isOrdered: false) = plan.fields[field].kind, Set(known) == Set(found) { continue }
                throw differs(node, field)
            }
        }
    }

    private func differs(_ node: Int, _ field: Int) -> PersistenceError {
        let name = nodes[node].plan.fields[field].name
        return PersistenceError.unwritable(
            entity: nodes[node].plan.name, uid: nodes[node].key.text, key: name,
            reason:
                "it is in this save several times, with different values of '\(name)'. Change all of its copies, or "
                + "save it by itself.")
    }
}
