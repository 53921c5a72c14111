import CompactCollections
import Ordering

/// The properties that a file has values for. Stored models keep their values of all others.
struct GivenFields: Sendable {
    /// The fields by entity. An entity that is not among them has values for all.
    private var fields: [ObjectIdentifier: Set<Int>] = [:]
    /// The places at which the file has models in columns, each with the places that its fields lead to. The given
    /// models are at the first one.
    private var places: [[Int: Int]] = [[:]]
    /// Whether models that have few columns at one place may be in JSON at another.
    private var needsPlaces = false

    /// The place of models that are in JSON, and that of models which the type itself makes up.
    private static let json = -1, elsewhere = -2

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
        var known: [(name: String, plan: EntityPlan, fields: Set<Int>)] = [("", plan, [])]
        var inJSON: Set<String> = []
        for column in columns {
            var place = 0
            var keys = column.split(separator: ".", omittingEmptySubsequences: false)[...]
            while let key = keys.popFirst() {
                let owner = known[place].plan
                guard let field = owner.fields.firstIndex(where: { $0.key == key }) else { break }
                fields[owner.id, default: []].insert(field)
                known[place].fields.insert(field)
                guard let related = owner.fields[field].related, !related.isReference else { break }
                let destination = try registry.plan(related)
                let next = places[place][field]
                if let next, (next == Self.json) != keys.isEmpty {
                    let name = known[place].name + key
                    throw PersistenceError.fileNotReadable(
                        path: path,
                        reason:
                            "It has '\(destination.name)' as a whole in “\(name)”, and in columns within it. Leave out "
                            + "one or the other.")
                }
                if keys.isEmpty {
                    places[place][field] = Self.json
                    inJSON.formUnion(try registry.entities(within: destination))
                    break
                }
                if next == nil {
                    places[place][field] = places.count
                    places.append([:])
                    known.append(("\(known[place].name)\(key).", destination, []))
                }
                place = next ?? places.count - 1
            }
        }
        for place in known.ordered(by: { $0.name < $1.name }) {
            guard let missing = fields[place.plan.id]?.subtracting(place.fields).min() else { continue }
            let column = place.name + place.plan.fields[missing].key
            throw PersistenceError.fileNotReadable(
                path: path,
                reason:
                    "It has a column for '\(place.plan.fields[missing].name)' of '\(place.plan.name)' at another place, and "
                    + "none named “\(column)”, so that the value would be lost there. Add it, or leave the other one out."
            )
        }
        for place in known {
            for (index, field) in place.plan.fields.enumerated() {
                guard case .isEmpty(let list)? = field.mark, place.fields.contains(list) else { continue }
                fields[place.plan.id]?.insert(index)
            }
            if fields[place.plan.id]?.count == place.plan.fields.count { fields[place.plan.id] = nil }
        }
        if fields.isEmpty { return nil }
        needsPlaces = known.contains { fields[$0.plan.id] != nil && inJSON.contains($0.plan.name) }
    }

    func has(_ field: Int, of plan: EntityPlan) -> Bool { fields[plan.id]?.contains(field) ?? true }

    /// The models of a graph that the file has in JSON, and thereby with all of their values.
    ///
    /// - Parameter graph: the models of some of the file's records.
    /// - Returns: their nodes; of models that have all of their values everywhere, not necessarily.
    /// - Throws: ``PersistenceError/Code/unwritable`` for a model that is in JSON as well as in columns which are not
    ///   all of its properties. A given model counts as it is given.
    func wholeNodes(of graph: ModelGraph) throws -> Set<Int> {
        guard needsPlaces else { return [] }
        var found: [Int: Int] = Dictionary(uniqueKeysWithValues: (0..<graph.rootCount).map { ($0, 0) })
        var queue = Array(0..<graph.rootCount)
        var next = 0
        while next < queue.count {
            let node = queue[next]
            next += 1
            let plan = graph.nodes[node].plan
            let place = found[node] ?? 0
            for link in graph.nodes[node].links {
                guard let related = plan.fields[link.field].related, !related.isReference else { continue }
                let end = place < 0 ? place : places[place][link.field] ?? Self.elsewhere
                for target in link.targets where target >= graph.rootCount {
                    guard let former = found[target] else {
                        found[target] = end
                        queue.append(target)
                        continue
                    }
                    if (former == Self.json) != (end == Self.json) { try checkIsWhole(graph.nodes[target]) }
                }
            }
        }
        return Set(found.lazy.filter { $0.value == Self.json }.map(\.key))
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
