import CoreDataModel

/// Finds out which join tables belong to which many-to-many relationships. Pure.
///
/// The columns of a join table contain, for each end, the number of that end's entity and the name of the relationship
/// that leads there; the table's own name contains the number of an entity and a relationship's name. Ordered ends have
/// columns with order keys.
struct JoinTableMatching {
    /// A table with two key columns, and possibly columns with order keys.
    private struct Table {
        let name: String
        package let keys: [String]
        let orders: [String]

        init?(_ name: String, _ columns: [TableDefinition.Column]) {
            let names = columns.map(\.name)
            orders = names.filter { StoredName.key($0).hasPrefix("Z_FOK_") }
            keys = names.filter { !StoredName.key($0).hasPrefix("Z_FOK_") }
            guard keys.count == 2,
                keys.allSatisfy({ StoredName.key($0) == "REFLEXIVE" || Self.parts($0) != nil })
            else { return nil }
            self.name = name
        }

        static func parts(_ name: String) -> (number: Int, rest: String)? {
            StoredName.numbered(StoredName.key(name), prefix: "Z_")
        }
    }

    private let tables: [Table]
    private let existing: [String: (name: String, columns: ColumnMatching)]
    private let numbers: [String: Int]

    init(_ tables: [String: [TableDefinition.Column]], numbers: [String: Int]) {
        self.tables = tables.compactMap { Table($0.key, $0.value) }.sorted { $0.name < $1.name }
        existing = Dictionary(
            tables.map { (StoredName.key($0.key), ($0.key, ColumnMatching($0.value))) },
            uniquingKeysWith: { first, _ in first })
        self.numbers = numbers
    }

    /// The matches of the join tables, and their names in the store; nil for those that are unknown.
    func matches(_ wanted: [JoinTableNames]) -> ([ColumnMatching.Match], [JoinTableNames?]) {
        var matches: [ColumnMatching.Match] = wanted.map { _ in .missing }
        var joins: [JoinTableNames?] = wanted.map(exact)
        var taken: Set<String> = []
        for (index, join) in joins.enumerated() {
            guard let join else { continue }
            matches[index] = .found(join.table)
            taken.insert(join.table)
        }
        for closeness in Closeness.allCases {
            let open = wanted.indices.filter { matches[$0] == .missing }
            guard !open.isEmpty else { break }
            let free = tables.filter { !taken.contains($0.name) }
            let found = open.map { index in free.flatMap { readings($0, as: wanted[index], closeness) } }
            for ((index, readings), match) in zip(
                zip(open, found), Assignment(found.map { Set($0.map(\.table)).sorted() }).matches)
            {
                switch match {
                case .found(let table):
                    // The ends of a relationship within one entity may be in either order.
                    let ways = readings.filter { $0.table == table }
                    if ways.count == 1 {
                        joins[index] = ways[0]
                        matches[index] = match
                    } else {
                        matches[index] = .ambiguous(
                            ways.map { "\($0.table) (\($0.sourceColumn), \($0.destinationColumn))" })
                    }
                    taken.insert(table)
                case .ambiguous(let names):
                    matches[index] = match
                    taken.formUnion(names)
                case .missing: break
                }
            }
        }
        return (matches, joins)
    }

    /// The names as the rules give them, in the file's spelling, if the store has them all.
    private func exact(_ join: JoinTableNames) -> JoinTableNames? {
        guard let (table, columns) = existing[StoredName.key(join.table)],
            let source = columns.spelling(join.sourceColumn), let destination = columns.spelling(join.destinationColumn)
        else { return nil }
        var result = join
        result.table = table
        result.sourceColumn = source
        result.destinationColumn = destination
        if let order = join.orderColumn {
            guard let name = columns.spelling(order) else { return nil }
            result.orderColumn = name
        }
        if let order = join.inverseOrderColumn {
            guard let name = columns.spelling(order) else { return nil }
            result.inverseOrderColumn = name
        }
        return result
    }

    private enum Closeness: CaseIterable {
        /// The numbers of both ends match, and both names except for their own numbering.
        case names
        /// The numbers of both ends match, and the names resemble each other.
        case resemblance
        /// Both names match, with other numbers of the entities.
        case renumbered
        /// The numbers of both ends match, and one of the names.
        case oneName
    }

    /// The ways in which a table can belong to a relationship.
    private func readings(_ table: Table, as join: JoinTableNames, _ closeness: Closeness) -> [JoinTableNames] {
        let ways = [(0, 1), (1, 0)]
        return ways.compactMap { source, destination in
            reading(table, join, source: table.keys[source], destination: table.keys[destination], closeness)
        }
    }

    private func reading(
        _ table: Table, _ join: JoinTableNames, source: String, destination: String, _ closeness: Closeness
    ) -> JoinTableNames? {
        let relationship = join.relationship
        let isReflexive = relationship.inverse === relationship
        guard let end = Table.parts(destination), (StoredName.key(source) == "REFLEXIVE") == isReflexive else {
            return nil
        }
        let destinationStem = StoredName.key(relationship.name)
        let sourceStem = StoredName.key(
            relationship.inverse?.name ?? Table.parts(join.sourceColumn)?.rest ?? relationship.source.name)
        let numbersFit: Bool
        var (sourceFits, sourceResembles) = (true, true)
        if isReflexive {
            numbersFit = end.number == numbers[relationship.destination.name]
        } else {
            guard let start = Table.parts(source) else { return nil }
            numbersFit =
                end.number == numbers[relationship.destination.name]
                && start.number == numbers[relationship.source.name]
            sourceFits = StoredName.isNumbered(start.rest, stem: sourceStem)
            sourceResembles = Self.resembles(start.rest, sourceStem)
        }
        let fits = StoredName.isNumbered(end.rest, stem: destinationStem)
        let resembles = Self.resembles(end.rest, destinationStem)
        switch closeness {
        case .names: guard numbersFit, fits, sourceFits else { return nil }
        case .resemblance: guard numbersFit, resembles, sourceResembles else { return nil }
        case .renumbered: guard fits, sourceFits else { return nil }
        case .oneName: guard numbersFit, fits || sourceFits, !isReflexive || fits else { return nil }
        }
        return named(table, join, source: source, destination: destination)
    }

    private static func resembles(_ name: String, _ stem: String) -> Bool {
        StoredName.isNumbered(name, stem: stem) || StoredName.isTruncation(name, of: stem)
            || StoredName.isNumbered(StoredName.looseKey(name), stem: StoredName.looseKey(stem))
    }

    /// The names with those of a table; nil if an order has no column.
    private func named(
        _ table: Table, _ join: JoinTableNames, source: String, destination: String
    ) -> JoinTableNames? {
        var result = join
        result.table = table.name
        result.sourceColumn = source
        result.destinationColumn = destination
        var ordered: [String] = []
        if join.orderColumn != nil { ordered.append(destination) }
        if join.inverseOrderColumn != nil { ordered.append(source) }
        guard var orders = orders(of: ordered, table) else { return nil }
        if join.inverseOrderColumn != nil { result.inverseOrderColumn = orders.removeLast() }
        if join.orderColumn != nil { result.orderColumn = orders.removeLast() }
        return result
    }

    /// The columns with the order keys of others; nil if they are unknown. They may have other numbers than these.
    private func orders(of columns: [String], _ table: Table) -> [String]? {
        let expected = columns.map { StoredName.key(JoinTableNames.orderColumn(of: $0)) }
        let exact = expected.compactMap { name in table.orders.first { StoredName.key($0) == name } }
        if exact.count == columns.count { return exact }
        if columns.count == 1, table.orders.count == 1 { return table.orders }
        let candidates = expected.map { name in
            table.orders.filter { StoredName.isNumbered(StoredName.key($0), stem: StoredName.unnumbered(name)) }
        }
        let found = Assignment(candidates).matches.compactMap { match -> String? in
            if case .found(let name) = match { name } else { nil }
        }
        return found.count == columns.count ? found : nil
    }
}
