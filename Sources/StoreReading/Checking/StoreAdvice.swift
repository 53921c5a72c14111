import CoreData
import PredicateFormat
import SQLGeneration
import SQLiteConnection
import SQLiteEngine
import StoreEngine

/// Possible improvements of an intact store: indexes, orphaned objects, large values.
package struct StoreAdvice {
    package private(set) var warnings: [String] = []
    /// The bytes of tables with their indexes, by the names of the root entities; empty if SQLite does not report them.
    package private(set) var sizes: [String: Int64] = [:]

    /// Values above this are listed.
    private static let large = 100_000

    /// - Throws: an error for a file that cannot be read.
    package init(of url: URL, _ store: DirectStore) throws {
        guard store.pagesByKey else { return }
        let connection = try ReadingConnection.open(url)
        let schema = try ReadingConnection.schema(of: store, url)
        let indexes = try Self.indexes(connection)
        addTemplates(store, schema, indexes)
        addRelationships(store, schema, indexes)
        try addOrphans(store)
        try addLargeValues(store, schema, connection)
        try addDates(store, schema, connection)
        // Read beside SQLite only where nobody else's locks are lost by that: in a copy.
        if store.isCopy, let pages = DatabasePages(path: url.path) {
            warnings += KeyGaps.all(in: pages).map { $0.text() }
        }
        sizes = Self.sizes(store, schema, indexes, connection)
    }

    private struct Index {
        let name: String
        let table: String
        /// The first column that it is sorted by.
        let column: String
    }

    private static func indexes(_ connection: Connection) throws -> [Index] {
        let statement = try connection.prepare(
            "SELECT m.name, m.tbl_name, i.name FROM sqlite_master m, pragma_index_info(m.name) i WHERE m.type = 'index' AND i.seqno = 0"
        )
        var found: [Index] = []
        while try statement.step() {
            guard let column = statement.optionalString(at: 2) else { continue }
            found.append(Index(name: statement.string(at: 0), table: statement.string(at: 1), column: column))
        }
        return found
    }

    private static func hasIndex(_ keys: [String], _ entity: EntityLayout, _ schema: SQLSchema, _ indexes: [Index])
        -> Bool
    {
        var entity = entity
        for key in keys.dropLast() {
            guard let next = entity.relationship(named: key)?.destination else { return true }
            entity = next
        }
        guard let key = keys.last, let mapping = schema.mapping(of: entity), let column = mapping.column(named: key)
        else { return true }
        return indexes.contains { $0.table == mapping.table && $0.column == column.name }
    }

    // MARK: Indexes

    /// Adds the keys by which fetch requests of the model look up or sort values.
    private mutating func addTemplates(_ store: DirectStore, _ schema: SQLSchema, _ indexes: [Index]) {
        for (name, request) in store.document.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
            guard let entity = store.layout.entityByName[request.entityName] else { continue }
            var keys: [String: String] = [:]
            request.predicate?.forEachComparison { comparison in
                guard
                    [.equalTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .between, .in]
                        .contains(comparison.comparison)
                else { return }
                if case .keyPath(let path) = comparison.left {
                    keys[path.joined(separator: ".")] = "looks objects up by"
                }
            }
            if let first = request.sortTerms.first?.keyPath.joined(separator: ".") {
                keys[first] = keys[first] ?? "sorts by"
            }
            for (key, use) in keys.sorted(by: { $0.key < $1.key }) {
                let path = key.split(separator: ".").map(String.init)
                if Self.hasIndex(path, entity, schema, indexes) { continue }
                warnings.append("the fetch request “\(name)” \(use) “\(entity.name).\(key)”, which has no index")
            }
        }
    }

    /// Adds the columns by which to-many relationships find their objects.
    private mutating func addRelationships(_ store: DirectStore, _ schema: SQLSchema, _ indexes: [Index]) {
        for entity in store.layout.entities {
            for relationship in entity.toOnes
            where relationship.source === entity && relationship.inverse != nil && !relationship.isTransient {
                if Self.hasIndex([relationship.name], entity, schema, indexes) { continue }
                warnings.append(
                    "“\(relationship.destination.name).\(relationship.inverse?.name ?? "")” finds its objects by “\(entity.name).\(relationship.name)”, which has no index"
                )
            }
        }
    }

    // MARK: Objects and values

    /// Adds objects that may have an owner, and have none: a required one is missing, which a check finds.
    private mutating func addOrphans(_ store: DirectStore) throws {
        for entity in store.layout.entities {
            for relationship in entity.toOnes
            where relationship.source === entity && relationship.inverse?.deleteRule == .cascadeDeleteRule
                && relationship.isOptional && !relationship.isTransient
            {
                var plan = FetchPlan(entity: entity)
                plan.predicate = makePredicate(
                    .comparison(ComparisonTree(.keyPath([relationship.name]), .equalTo, .constant(.null))))
                guard let count = try? store.asking({ try $0.fetchCount(plan) }), count > 0 else { continue }
                warnings.append(
                    "\(TextTools.count(count, "object")) of “\(entity.name)” \(count == 1 ? "has" : "have") no “\(relationship.name)”, with which \(count == 1 ? "it" : "they") would be deleted"
                )
            }
        }
    }

    private mutating func addLargeValues(_ store: DirectStore, _ schema: SQLSchema, _ connection: Connection) throws {
        for entity in store.layout.entities where entity.superentity == nil {
            guard let mapping = schema.mapping(of: entity) else { continue }
            for (slot, column) in zip(entity.slots, mapping.columns) {
                guard let column, !column.isComposite, let type = slot.attribute?.type,
                    [.stringAttributeType, .binaryDataAttributeType, .transformableAttributeType].contains(type)
                else { continue }
                let statement = try connection.prepare(
                    StoreCheckSQL.largest(column, in: mapping, above: Self.large, limit: 3))
                var found: [String] = []
                do {
                    while try statement.step() {
                        let size = TextTools.size(statement.integer(at: 1))
                        found.append("\(entity.name)/p\(statement.integer(at: 0)) (\(size))")
                    }
                } catch let error as SQLiteError where error.isBeyondLimit { found.append(error.message) }
                guard !found.isEmpty else { continue }
                let advice =
                    slot.attribute?.allowsExternalStorage == true
                    ? "" : "; external storage would keep such values in files"
                warnings.append(
                    "“\(entity.name).\(slot.name)” has large values: \(found.joined(separator: ", "))\(advice)")
            }
        }
    }

    /// Adds numbers that may be dates of another epoch.
    private mutating func addDates(_ store: DirectStore, _ schema: SQLSchema, _ connection: Connection) throws {
        for entity in store.layout.entities {
            guard let mapping = schema.mapping(of: entity) else { continue }
            for (index, slot) in entity.slots.enumerated() where index >= entity.superentity?.slots.count ?? 0 {
                guard let column = mapping.columns[index], !column.isComposite, let type = slot.attribute?.type,
                    [.integer32AttributeType, .integer64AttributeType, .doubleAttributeType].contains(type)
                else { continue }
                let statement = try connection.prepare(StoreCheckSQL.range(of: column, in: mapping))
                guard try statement.step(), !statement.isNull(at: 0),
                    case let (least, greatest) = (statement.double(at: 0), statement.double(at: 1)),
                    let epoch = DateEpoch.suggestion(for: slot.name, from: least, to: greatest)
                else { continue }
                let dates = [least, greatest].map { TextTools.iso8601(epoch.secondsSince2001($0).rounded()).prefix(10) }
                warnings.append(
                    "“\(entity.name).\(slot.name)” may have dates as numbers, from \(dates[0]) to \(dates[1]): "
                        + "“--dates \(entity.name).\(slot.name)=\(epoch.rawValue)” shows them so")
            }
        }
    }

    private static func sizes(
        _ store: DirectStore, _ schema: SQLSchema, _ indexes: [Index], _ connection: Connection
    ) -> [String: Int64] {
        guard let statement = try? connection.prepare(StoreCheckSQL.sizes) else { return [:] }
        var bytes: [String: Int64] = [:]
        while (try? statement.step()) == true { bytes[statement.string(at: 0)] = statement.integer(at: 1) }
        var sizes: [String: Int64] = [:]
        for entity in store.layout.entities where entity.superentity == nil {
            guard let table = schema.mapping(of: entity)?.table, let own = bytes[table] else { continue }
            let names = Set(indexes.filter { $0.table == table }.map(\.name))
            sizes[entity.name] = own + names.reduce(0) { $0 + (bytes[$1] ?? 0) }
        }
        return sizes
    }
}
