import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// One save inside its transaction: writes the rows of a change set, those of one kind with one statement.
struct SaveRun {
    /// From how many rows on `COPY` is worth a round trip of its own.
    static let copied = 200

    private let database: OpenDatabase
    private let changes: ChangeSet
    private var requests: [PostgresConnection.Request] = []
    /// For the requests that tell which rows they found: the rows that they should find.
    private var expected: [Int: [NSManagedObjectID]] = [:]
    /// The objects whose rows were not as they should have been.
    private(set) var conflicts: [NSManagedObjectID] = []

    init(_ changes: ChangeSet, _ database: OpenDatabase) { (self.changes, self.database) = (changes, database) }

    /// Writes all rows, and relationships to many: mostly all of it with one round trip.
    ///
    /// - Parameters:
    ///   - first: what is sent before, such as the beginning of the transaction.
    ///   - last: what is sent after all that needs no further reading.
    ///   - clearsUniqueValues: whether the unique values of rows that are written are cleared first, so that rows may trade them.
    /// - Throws: the server's errors, and an `NSError` for a value that cannot be stored.
    mutating func write(
        first: [PostgresConnection.Request], last: [PostgresConnection.Request], clearsUniqueValues: Bool
    ) throws {
        requests = first
        if clearsUniqueValues { try clearUniqueValues() }
        try delete()
        try update()
        let groups = Self.groups(changes.inserted)
        for group in groups where group.count < Self.copied { try insert(group) }
        let copied = groups.filter { $0.count >= Self.copied }
        if !copied.isEmpty {
            try send()
            guard conflicts.isEmpty else { return }
            for group in copied { try copy(group) }
        }
        try writePairs()
        if ordersChange {
            try send()
            guard conflicts.isEmpty else { return }
            try writePlaces()
        }
        requests += last
        try send()
    }

    private mutating func send() throws {
        let results = try database.connection.pipeline(requests)
        for (index, identifiers) in expected.sorted(by: { $0.key < $1.key })
        where results[index].count < identifiers.count {
            let result = results[index]
            let found = Set((0..<result.count).map { result.integer($0, 0) })
            conflicts += identifiers.filter { !found.contains($0.key) }
        }
        requests = []
        expected = [:]
    }

    private mutating func add(_ sql: String, _ parameters: PostgresParameters) {
        requests.append(.init(sql, parameters))
    }

    private mutating func add(_ sql: String, keys: [Int64]) {
        var parameters = PostgresParameters()
        parameters.append(array: keys)
        add(sql, parameters)
    }

    private static func groups(_ changes: [RowChange]) -> [[Int]] {
        OpenDatabase.groups(changes.count) { changes[$0].objectID.layout }
    }

    // MARK: Rows

    private mutating func delete() throws {
        for group in OpenDatabase.groups(changes.deleted.map(\.objectID)) {
            let deletions = group.map { changes.deleted[$0] }
            let access = try database.access(deletions[0].objectID.layout)
            let keys = deletions.map(\.objectID.key)
            // Pairs first: they refer to the rows.
            for toMany in access.mapping.toManys {
                switch toMany {
                case .joinTable(let join):
                    add(RowStatements.deletePairs(of: join), keys: keys)
                    if join.isReflexive { add(RowStatements.deletePairs(of: join.reversed), keys: keys) }
                case .foreignKey(let key) where !key.hasInverse: add(RowStatements.releaseAll(key), keys: keys)
                case .foreignKey, nil: break
                }
            }
            var parameters = PostgresParameters()
            parameters.append(array: keys)
            parameters.append(array: deletions.map(\.version))
            expected[requests.count] = deletions.map(\.objectID)
            add(RowStatements.delete(access.mapping.table), parameters)
        }
    }

    private mutating func update() throws {
        var groups: [(kind: UpdateKind, positions: [Int])] = []
        var places: [UpdateKind: Int] = [:]
        // Most updates of a save change the same properties of the same entity.
        var latest = -1
        for position in changes.updated.indices {
            let layout = ObjectIdentifier(changes.updated[position].objectID.layout)
            if latest < 0 || groups[latest].kind.layout != layout
                || groups[latest].kind.slots != changes.updated[position].changedSlots
            {
                let kind = UpdateKind(layout: layout, slots: changes.updated[position].changedSlots)
                latest = places[kind] ?? groups.count
                places[kind] = latest
                if latest == groups.count { groups.append((kind, [])) }
            }
            groups[latest].positions.append(position)
        }
        let rows = changes.updated
        for (kind, positions) in groups {
            let access = try database.access(changes.updated[positions[0]].objectID.layout)
            let written = access.writer.places.filter { kind.slots.contains($0.slot) }
            var parameters = PostgresParameters()
            parameters.append(array: positions.lazy.map { rows[$0].objectID.key })
            parameters.append(array: positions.lazy.map { rows[$0].version })
            for place in written { parameters.append(try array(place, changes.updated, positions, access.writer)) }
            expected[requests.count] = positions.map { changes.updated[$0].objectID }
            add(access.updateText(kind.slots), parameters)
        }
    }

    private struct UpdateKind: Hashable {
        let layout: ObjectIdentifier
        let slots: [Int]
    }

    private func array(
        _ place: WrittenPlace, _ changes: [RowChange], _ positions: [Int], _ writer: ValueWriter
    ) throws -> PostgresArray {
        var array = PostgresArray(place.kind.type)
        for position in positions { try writer.write(changes[position].values[place.slot], place, to: &array) }
        return array
    }

    private mutating func insert(_ positions: [Int]) throws {
        let rows = changes.inserted
        let access = try database.access(rows[positions[0]].objectID.layout)
        var parameters = PostgresParameters()
        parameters.append(array: positions.lazy.map { rows[$0].objectID.key })
        parameters.append(array: positions.lazy.map { rows[$0].version &+ 1 })
        for place in access.writer.places { parameters.append(try array(place, rows, positions, access.writer)) }
        add(access.insertText, parameters)
    }

    private func copy(_ positions: [Int]) throws {
        let access = try database.access(changes.inserted[positions[0]].objectID.layout)
        let (writer, rows) = (access.writer, changes.inserted)
        let number = Int32(access.mapping.number)
        try database.connection.copy(access.copyText) { copy in
            for position in positions {
                try copy.beginRow(writer.places.count + 3)
                copy.append(rows[position].objectID.key)
                copy.append(number)
                copy.append(rows[position].version &+ 1)
                try writer.write(rows[position].values, to: &copy)
            }
        }
    }

    private mutating func clearUniqueValues() throws {
        for group in Self.groups(changes.updated) {
            let access = try database.access(changes.updated[group[0]].objectID.layout)
            let layout = access.mapping.layout
            // A row without what divides the table would be nowhere.
            let dividing = try database.schema.mapping(of: layout.root).flatMap { try Partitioning($0) }?.column
            let unique = Set(layout.uniquenessConstraints.joined().compactMap { layout.slotIndex(forName: $0) })
            for slot in unique.sorted() {
                let changed = group.map { changes.updated[$0] }.filter { $0.changedSlots.contains(slot) }
                let columns = access.columns.filter { $0.slot == slot && $0.name != dividing }
                    .map(\.name)
                guard !changed.isEmpty, !columns.isEmpty else { continue }
                var parameters = PostgresParameters()
                parameters.append(array: changed.map(\.objectID.key))
                parameters.append(array: changed.map(\.version))
                add(RowStatements.clear(access.mapping.table, columns), parameters)
            }
        }
    }

    // MARK: Relationships to many

    /// Without those that have none: most saves have none at all.
    private var toManyChanges: [(source: NSManagedObjectID, change: ToManyChange)] {
        var found: [(source: NSManagedObjectID, change: ToManyChange)] = []
        for list in [changes.updated, changes.inserted] {
            for position in list.indices where !list[position].toManyChanges.isEmpty {
                for change in list[position].toManyChanges { found.append((list[position].objectID, change)) }
            }
        }
        return found
    }

    private var ordersChange: Bool {
        [changes.updated, changes.inserted].contains { list in
            list.indices.contains { list[$0].toManyChanges.contains { $0.order != nil } }
        }
    }

    private func mapping(_ change: ToManyChange, of source: NSManagedObjectID) throws -> ToManyMapping? {
        let toManys = try database.access(source.layout).mapping.toManys
        return toManys.indices.contains(change.relationship.index) ? toManys[change.relationship.index] : nil
    }

    /// Writes the pairs of join tables and owners, all that are removed before all that are added.
    private mutating func writePairs() throws {
        var pairs = PairStatements()
        for (source, change) in toManyChanges {
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

    /// Writes the places in ordered relationships, which need all pairs to be there.
    private mutating func writePlaces() throws {
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
