import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// One save inside its transaction: writes the rows of a change set, one statement for rows of one kind.
struct SaveRun {
    /// The number of rows from which `COPY` is used, although it needs a round trip of its own.
    static let copyThreshold = 200
    /// The most bytes of values in one statement, unless a single row has more: the server refuses a gigabyte.
    static let largestStatement = 1 << 26

    let database: OpenDatabase
    let changes: ChangeSet
    var requests: [PostgresConnection.Request] = []
    /// How many bytes of values wait in the requests.
    private var waiting = 0
    /// Whether the transaction ends with the rows, and whether it has ended.
    private let commits: Bool
    private(set) var isCommitted = false

    /// - Parameters:
    ///   - changes: what to write.
    ///   - database: the open store.
    ///   - commits: whether `COMMIT` is sent with the last statements.
    init(_ changes: ChangeSet, _ database: OpenDatabase, commits: Bool) {
        (self.changes, self.database, self.commits) = (changes, database, commits)
    }

    /// Writes all rows and to-many relationships, mostly in one round trip.
    ///
    /// - Parameters:
    ///   - first: requests to send before, such as the beginning of the transaction.
    ///   - last: requests to send at the end, if nothing more must be read before; nil if more follows the rows.
    ///   - clearsUniqueValues: whether the unique values of the written rows are cleared first, so that rows may swap
    ///     them.
    /// - Throws: the server's errors, and an `NSError` for a value that cannot be stored.
    mutating func write(
        first: [PostgresConnection.Request], last: [PostgresConnection.Request]?, clearsUniqueValues: Bool
    ) throws {
        requests = first
        if clearsUniqueValues { try clearUniqueValues() }
        try delete()
        try update()
        let groups = Self.groups(changes.inserted)
        var copied: [[Int]] = []
        for group in groups {
            if !database.copiesRows {
                for portion in portions(changes.inserted, group) { try insert(Array(portion)) }
            } else if group.count >= Self.copyThreshold || portions(changes.inserted, group).count > 1 {
                copied.append(group)
            } else {
                try insert(group)
            }
        }
        if !copied.isEmpty {
            try send()
            for group in copied { try copy(group) }
        }
        try writePairs()
        if ordersChange {
            try send()
            try writePlaces()
        }
        if let last { try finish(last) } else { try send() }
    }

    /// Sends the last statements of the transaction, and its end if the run commits.
    mutating func finish(_ last: [PostgresConnection.Request]) throws {
        requests += last
        guard commits else { return database.noteNotified(try send()) }
        try database.decidingSave {
            let (results, warns) = try database.connection.pipelineAndCommit(requests)
            database.noteNotified(results.last)
            return !warns
        }
        isCommitted = true
    }

    /// - Returns: the last answer.
    @discardableResult
    private mutating func send() throws -> PostgresResult? {
        defer { (requests, waiting) = ([], 0) }
        return try database.connection.pipeline(requests).last
    }

    /// Whether an error says that rows did not have the expected versions.
    static func isConflict(_ error: PostgresError) -> Bool {
        error.state == "22012" && error.statement?.hasPrefix(RowStatements.counting) == true
    }

    mutating func add(_ sql: String, _ parameters: PostgresParameters) {
        requests.append(.init(sql, parameters))
        waiting += parameters.byteCount
    }

    mutating func add(_ sql: String, keys: [Int64]) {
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
            let deletions = Self.inOrder(group) { changes.deleted[$0].objectID.key }.map { changes.deleted[$0] }
            let access = try database.access(deletions[0].objectID.layout)
            let keys = deletions.map(\.objectID.key)
            // Pairs first, as they refer to the rows.
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
            if deletions.count == 1 {
                parameters.append(keys[0])
                parameters.append(deletions[0].version)
                add(RowStatements.deleteOne(access.mapping.table), parameters)
                continue
            }
            parameters.append(array: keys)
            parameters.append(array: deletions.map(\.version))
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
        for (kind, unordered) in groups {
            let positions = Self.inOrder(unordered) { rows[$0].objectID.key }
            let access = try database.access(changes.updated[positions[0]].objectID.layout)
            let written = access.writer.places.filter { kind.slots.contains($0.slot) }
            let texts = access.updateTexts(kind.slots)
            for portion in portions(rows, positions, kind.slots) {
                try update(portion, written, texts, access.writer)
            }
        }
    }

    private mutating func update(
        _ positions: ArraySlice<Int>, _ places: [WrittenPlace], _ texts: (one: String, many: String),
        _ writer: ValueWriter
    ) throws {
        let rows = changes.updated
        if positions.count == 1, let position = positions.first {
            let row = rows[position]
            add(texts.one, try Self.parameters(row, version: row.version, writer, places))
        } else {
            var parameters = PostgresParameters()
            parameters.append(array: positions.lazy.map { rows[$0].objectID.key })
            parameters.append(array: positions.lazy.map { rows[$0].version })
            for place in places { parameters.append(try array(place, rows, positions, writer)) }
            if parameters.byteCount > Self.largestStatement * 2 {
                // Archives whose lengths were not known before.
                let half = positions.count / 2
                try update(positions.prefix(half), places, texts, writer)
                return try update(positions.dropFirst(half), places, texts, writer)
            }
            add(texts.many, parameters)
        }
        if waiting >= Self.largestStatement { try send() }
    }

    /// Rows of one kind in portions that statements can have.
    ///
    /// - Parameters:
    ///   - rows: all rows.
    ///   - positions: those of one kind.
    ///   - slots: the slots that are written; nil for all.
    /// - Returns: the positions, in order.
    private func portions(
        _ rows: [RowChange], _ positions: [Int], _ slots: [Int]? = nil
    ) -> [ArraySlice<Int>] {
        Portions.cut(positions.count, limit: Self.largestStatement) { index in
            let values = rows[positions[index]].values
            return slots?.reduce(into: 0) { $0 += values[$1].longSize } ?? values.reduce(into: 0) { $0 += $1.longSize }
        }.map { positions[$0] }
    }

    /// One row as single values.
    private static func parameters(
        _ row: RowChange, version: Int64, _ writer: ValueWriter, _ places: some Sequence<WrittenPlace>
    ) throws -> PostgresParameters {
        var sink = ParameterSink()
        sink.append(row.objectID.key)
        sink.append(version)
        for place in places {
            sink.type = place.kind.type
            try writer.write(row.values[place.slot], place, to: &sink)
        }
        return sink.parameters
    }

    private struct UpdateKind: Hashable {
        let layout: ObjectIdentifier
        let slots: [Int]
    }

    private func array(
        _ place: WrittenPlace, _ changes: [RowChange], _ positions: ArraySlice<Int>, _ writer: ValueWriter
    ) throws -> PostgresArray {
        var array = PostgresArray(place.kind.type)
        for position in positions { try writer.write(changes[position].values[place.slot], place, to: &array) }
        return array
    }

    private mutating func insert(_ positions: [Int]) throws {
        let rows = changes.inserted
        let access = try database.access(rows[positions[0]].objectID.layout)
        if positions.count == 1 {
            let row = rows[positions[0]]
            let parameters = try Self.parameters(row, version: row.version &+ 1, access.writer, access.writer.places)
            add(access.insertOneText, parameters)
            if waiting >= Self.largestStatement { try send() }
            return
        }
        var parameters = PostgresParameters()
        parameters.append(array: positions.lazy.map { rows[$0].objectID.key })
        parameters.append(array: positions.lazy.map { rows[$0].version &+ 1 })
        for place in access.writer.places { parameters.append(try array(place, rows, positions[...], access.writer)) }
        if parameters.byteCount > Self.largestStatement * 2 {
            // Archives whose lengths were not known before.
            try send()
            if database.copiesRows { return try copy(positions) }
            let half = positions.count / 2
            try insert(Array(positions.prefix(half)))
            return try insert(Array(positions.dropFirst(half)))
        }
        add(access.insertText, parameters)
        if waiting >= Self.largestStatement { try send() }
    }

    private func copy(_ positions: [Int]) throws {
        let access = try database.access(changes.inserted[positions[0]].objectID.layout)
        let (writer, rows) = (access.writer, changes.inserted)
        let number = Int32(access.mapping.number)
        let count = try database.connection.copy(access.copyText) { copy in
            for position in positions {
                try copy.beginRow(writer.places.count + 3)
                copy.append(rows[position].objectID.key)
                copy.append(number)
                copy.append(rows[position].version &+ 1)
                try writer.write(rows[position].values, to: &copy)
            }
        }
        guard count == positions.count else { throw PostgresStoreError.notWritten(nil, database.place) }
    }

    private mutating func clearUniqueValues() throws {
        for group in Self.groups(changes.updated) {
            let access = try database.access(changes.updated[group[0]].objectID.layout)
            let layout = access.mapping.layout
            // A row without a value for the partition key would belong to no partition.
            let partitioning = try database.schema.mapping(of: layout.root).flatMap { try Partitioning($0) }?.column
            let unique = Set(layout.uniquenessConstraints.joined().compactMap { layout.slotIndex(forName: $0) })
            for slot in unique.sorted() {
                let changed = group.map { changes.updated[$0] }.filter { $0.changedSlots.contains(slot) }
                let columns = access.columns.filter { $0.slot == slot && $0.name != partitioning }
                    .map(\.name)
                guard !changed.isEmpty, !columns.isEmpty else { continue }
                var parameters = PostgresParameters()
                parameters.append(array: changed.map(\.objectID.key))
                parameters.append(array: changed.map(\.version))
                add(RowStatements.clear(access.mapping.table, columns), parameters)
            }
        }
    }
}

extension SaveRun {
    /// Positions in the order of the rows' keys: programs that write the same rows in the same order wait for one
    /// another. In different orders they would block one another, until the server ends one of them after a second.
    static func inOrder(_ positions: [Int], key: (Int) -> Int64) -> [Int] {
        let isOrdered = zip(positions, positions.dropFirst()).allSatisfy { key($0) <= key($1) }
        return isOrdered ? positions : positions.sorted { key($0) < key($1) }
    }
}

/// How what is written together is cut by its size. Pure.
package enum Portions {
    /// Cuts a sequence where its parts would exceed a limit. A single element may exceed it.
    ///
    /// - Parameters:
    ///   - count: how many elements there are.
    ///   - limit: how large a part may be.
    ///   - size: the size of an element.
    /// - Returns: the parts, in order, none of them empty.
    package static func cut(_ count: Int, limit: Int, size: (Int) -> Int) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, sum) = (0, 0)
        for index in 0..<count {
            let size = size(index)
            if index > start, sum + size > limit {
                parts.append(start..<index)
                (start, sum) = (index, 0)
            }
            sum += size
        }
        if start < count { parts.append(start..<count) }
        return parts
    }
}

extension StoredValue {
    /// How many bytes the value has if it is of a kind that may have many. An archive is not made to learn its length.
    var longSize: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let data): data.count
        default: 12
        }
    }
}
