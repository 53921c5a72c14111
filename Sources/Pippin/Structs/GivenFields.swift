/// The properties that a file has values for. Stored models keep their values of all others.
struct GivenFields: Sendable {
    /// The fields by entity. An entity that is not among them has values for all.
    private var fields: [ObjectIdentifier: Set<Int>] = [:]
    /// The places at which the file has models in columns, each with the places that its fields lead to. The given
    /// models are at the first one.
    private var places: [[Int: Lead]] = [[:]]
    /// Whether models that have few columns at one place may be in JSON at another.
    private var needsPlaces = false

    /// The place in the file to which a field of a model leads.
    private enum Lead: Equatable {
        case place(Int)
        /// The field leads to models in JSON.
        case json
        /// The field leads to models that the type itself makes up.
        case elsewhere
    }

    /// A place at which the file has models in columns.
    private struct KnownPlace {
        /// The beginning of its columns' names.
        let name: String
        let plan: EntityPlan
        var fields: Set<Int> = []
    }

    /// Nil if each model in the file has all of its values.
    ///
    /// - Parameters:
    ///   - columns: the names of a file's columns, which the model has.
    ///   - plan: the model.
    ///   - registry: the models that are known.
    ///   - path: the file's path, for errors.
    /// - Throws: ``PersistenceError/Code/fileNotReadable`` if models of one type have other columns at one place than
    ///   at another, since the values of these would be set to nil where they are missing, and if models are in columns
    ///   and in JSON at one place.
    init?(_ columns: [String], of plan: EntityPlan, in registry: ModelRegistry, path: String) throws {
        var known = [KnownPlace(name: "", plan: plan)]
        var inJSON: Set<String> = []
        for column in columns { try read(column, &known, &inJSON, registry, path) }
        try checkGaps(in: known, path)
        fillMarks(of: known)
        if fields.isEmpty { return nil }
        needsPlaces = known.contains { fields[$0.plan.id] != nil && inJSON.contains($0.plan.name) }
    }

    /// Notes the fields that a column's name leads through.
    private mutating func read(
        _ column: String, _ known: inout [KnownPlace], _ inJSON: inout Set<String>, _ registry: ModelRegistry,
        _ path: String
    ) throws {
        var place = 0
        var keys = column.split(separator: ".", omittingEmptySubsequences: false)[...]
        while let key = keys.popFirst() {
            let owner = known[place].plan
            guard let field = owner.fields.firstIndex(where: { $0.key == key }) else { return }
            fields[owner.id, default: []].insert(field)
            known[place].fields.insert(field)
            guard let related = owner.fields[field].related, !related.isReference else { return }
            let destination = try registry.plan(related)
            let next = places[place][field]
            if let next, (next == .json) != keys.isEmpty {
                let name = known[place].name + key
                throw PersistenceError.fileNotReadable(
                    path: path,
                    reason:
                        "It has '\(destination.name)' as a whole in “\(name)”, and in columns within it. Leave out "
                        + "one or the other.")
            }
            if keys.isEmpty {
                places[place][field] = .json
                inJSON.formUnion(try registry.entities(within: destination))
                return
            }
            if case .place(let former)? = next {
                place = former
                continue
            }
            let added = places.count
            places[place][field] = .place(added)
            places.append([:])
            known.append(KnownPlace(name: "\(known[place].name)\(key).", plan: destination))
            place = added
        }
    }

    /// Refuses a type that has other columns at one place than at another.
    private func checkGaps(in known: [KnownPlace], _ path: String) throws {
        for place in known.sorted(by: { $0.name < $1.name }) {
            guard let missing = fields[place.plan.id]?.subtracting(place.fields).min() else { continue }
            let column = place.name + place.plan.fields[missing].key
            throw PersistenceError.fileNotReadable(
                path: path,
                reason:
                    "It has a column for '\(place.plan.fields[missing].name)' of '\(place.plan.name)' at another place, and "
                    + "none named “\(column)”, so that the value would be lost there. Add it, or leave the other one out."
            )
        }
    }

    /// Adds the marks of lists that the file has, and forgets models of which it has all fields.
    private mutating func fillMarks(of known: [KnownPlace]) {
        for place in known {
            for (index, field) in place.plan.fields.enumerated() {
                guard case .hasList(let list)? = field.mark, place.fields.contains(list) else { continue }
                fields[place.plan.id]?.insert(index)
            }
            if fields[place.plan.id]?.count == place.plan.fields.count { fields[place.plan.id] = nil }
        }
    }

    func has(_ field: Int, of plan: EntityPlan) -> Bool { fields[plan.id]?.contains(field) ?? true }

    /// The models of a graph that the file has in JSON, and thereby with all of their values.
    ///
    /// - Parameter graph: the models of some of the file's records.
    /// - Returns: their nodes; of models that have all of their values everywhere, not necessarily.
    /// - Throws: ``PersistenceError/Code/unwritable`` for a model that is in JSON as well as in columns which are not
    ///   all of its properties, and for several records of which one led to what no later one does: where that was in
    ///   the file is not known. A given model counts as it is given.
    func wholeNodes(of graph: ModelGraph) throws -> Set<Int> {
        guard needsPlaces else { return [] }
        if graph.hasLeftModels, let root = graph.nodes.first {
            throw PersistenceError.unwritable(
                entity: root.plan.name, uid: root.key.text, key: nil,
                reason: "a model in its JSON has other models in a later record. Save the records one after the other.")
        }
        var found: [Int: Lead] = [:]
        for root in 0..<graph.rootCount { found[root] = .place(0) }
        var queue = Array(0..<graph.rootCount)
        var next = 0
        while next < queue.count {
            let node = queue[next]
            next += 1
            let plan = graph.nodes[node].plan
            let place = found[node] ?? .place(0)
            for link in graph.nodes[node].links {
                guard let related = plan.fields[link.field].related, !related.isReference else { continue }
                let end = destination(of: link.field, at: place)
                for target in link.targets where target >= graph.rootCount {
                    guard let former = found[target] else {
                        found[target] = end
                        queue.append(target)
                        continue
                    }
                    if (former == .json) != (end == .json) { try checkIsWhole(graph.nodes[target]) }
                }
            }
        }
        return Set(found.lazy.filter { $0.value == .json }.map(\.key))
    }

    /// Where a field of a model leads, which is itself at a place, in JSON, or elsewhere.
    private func destination(of field: Int, at place: Lead) -> Lead {
        guard case .place(let number) = place else { return place }
        return places[number][field] ?? .elsewhere
    }

    private func checkIsWhole(_ node: ModelGraph.Node) throws {
        guard let given = fields[node.plan.id],
            let missing = node.plan.fields.indices.first(where: { !given.contains($0) })
        else { return }
        throw PersistenceError.unwritable(
            entity: node.plan.name, uid: node.key.text, key: node.plan.fields[missing].name,
            reason: "it is in the file as JSON, and in columns without this one, so that the value would be lost. "
                + "Add the column, or take the model out of the JSON.")
    }
}
