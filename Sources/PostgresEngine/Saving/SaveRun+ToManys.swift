import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

// To-many relationships.
extension SaveRun {
    /// Without the objects that have none: most saves change none at all.
    private var toManyChanges: [(source: NSManagedObjectID, change: ToManyChange)] {
        var found: [(source: NSManagedObjectID, change: ToManyChange)] = []
        for list in [changes.updated, changes.inserted] {
            for position in list.indices where !list[position].toManyChanges.isEmpty {
                for change in list[position].toManyChanges { found.append((list[position].objectID, change)) }
            }
        }
        return found
    }

    var ordersChange: Bool {
        [changes.updated, changes.inserted].contains { list in
            list.indices.contains { list[$0].toManyChanges.contains { $0.order != nil } }
        }
    }

    private func mapping(_ change: ToManyChange, of source: NSManagedObjectID) throws -> ToManyMapping? {
        let toManys = try database.access(source.layout).mapping.toManys
        return toManys.indices.contains(change.relationship.index) ? toManys[change.relationship.index] : nil
    }

    /// Writes the pairs of join tables and owners: all removals before all additions.
    mutating func writePairs() throws {
        var pairs = PairStatements()
        for (source, change) in toManyChanges where change.pairs != .otherEnd {
            guard let mapping = try mapping(change, of: source) else { continue }
            switch mapping {
            case .joinTable(let join):
                let (add, remove) = (RowStatements.insertPairs(join), RowStatements.deletePairs(join))
                for target in change.removed { pairs.add(remove, source.key, target.key, isRemoval: true) }
                for target in change.added { pairs.add(add, source.key, target.key) }
                guard join.isReflexive else { continue }
                for target in change.removed { pairs.add(remove, target.key, source.key, isRemoval: true) }
                for target in change.added { pairs.add(add, target.key, source.key) }
            case .foreignKey(let key) where !key.hasInverse:
                let (add, remove) = (RowStatements.own(key), RowStatements.release(key))
                for target in change.removed { pairs.add(remove, source.key, target.key, isRemoval: true) }
                for target in change.added { pairs.add(add, source.key, target.key) }
            case .foreignKey: break
            }
        }
        requests += pairs.requests
    }

    /// Writes the places in ordered relationships, which need all pairs to exist.
    mutating func writePlaces() throws {
        var orders: [(mapping: ToManyMapping, sql: String, changes: [(source: Int64, order: [Int64])])] = []
        var positions: [String: Int] = [:]
        for (source, change) in toManyChanges {
            guard let order = change.order, let mapping = try mapping(change, of: source),
                let sql = RowStatements.places(mapping)
            else { continue }
            let position = positions[sql] ?? orders.count
            if position == orders.count { orders.append((mapping, sql, [])) }
            positions[sql] = position
            orders[position].changes.append((source.key, order.map(\.key)))
        }
        for (mapping, sql, changes) in orders {
            guard let set = RowStatements.setPlaces(mapping) else { continue }
            let result = try database.query(sql, keys: changes.map(\.source))
            var present: [Int64: [Int64: Int64]] = [:]
            for row in 0..<result.count where !result.isNull(row, 2) {
                present[result.integer(row, 0), default: [:]][result.integer(row, 1)] = result.integer(row, 2)
            }
            var (sources, destinations, places): ([Int64], [Int64], [Int64]) = ([], [], [])
            for (source, order) in changes {
                for (destination, place) in OrderKeys.changes(order: order, existing: present[source] ?? [:]) {
                    sources.append(source)
                    destinations.append(destination)
                    places.append(place)
                }
            }
            guard !sources.isEmpty else { continue }
            var parameters = PostgresParameters()
            for list in [sources, destinations, places] { parameters.append(array: list) }
            add(set, parameters)
        }
    }
}

/// Pairs of keys by the statement that writes them.
struct PairStatements {
    private struct Pairs {
        var sources: [Int64] = []
        var targets: [Int64] = []
    }

    private var pairs: [String: Pairs] = [:]
    private var removals: [String] = []
    private var additions: [String] = []

    mutating func add(_ sql: String, _ source: Int64, _ target: Int64, isRemoval: Bool = false) {
        if pairs[sql] == nil {
            if isRemoval { removals.append(sql) } else { additions.append(sql) }
        }
        pairs[sql, default: Pairs()].sources.append(source)
        pairs[sql, default: Pairs()].targets.append(target)
    }

    var requests: [PostgresConnection.Request] {
        (removals + additions).compactMap { sql in
            guard let list = pairs[sql] else { return nil }
            var parameters = PostgresParameters()
            parameters.append(array: list.sources)
            parameters.append(array: list.targets)
            return PostgresConnection.Request(sql, parameters)
        }
    }
}
