import CoreDataModel
import Foundation
import StoreEngine

/// Finds out which tables belong to which root entities. Pure.
struct TableMatching {
    /// The tables that may belong to an entity, by the key of their names.
    private let existing: [String: (name: String, columns: [TableDefinition.Column])]

    init(_ tables: [String: [TableDefinition.Column]]) {
        var existing: [String: (name: String, columns: [TableDefinition.Column])] = [:]
        // Tables of frameworks have other prefixes: `ANSCKEVENT`.
        for (name, columns) in tables where StoredName.key(name).hasPrefix("Z") && !StoreTables.isReserved(name) {
            let keys = Set(columns.map { StoredName.key($0.name) })
            guard keys.contains("Z_PK"), keys.contains("Z_ENT"), keys.contains("Z_OPT") else { continue }
            existing[StoredName.key(name)] = (name, columns)
        }
        self.existing = existing
    }

    func matches(_ wanted: [WantedTable]) -> [ColumnMatching.Match] {
        var result: [ColumnMatching.Match] = wanted.map { _ in .missing }
        var free = existing
        func take(_ index: Int, _ name: String) {
            result[index] = .found(name)
            free[StoredName.key(name)] = nil
        }
        let stems = Dictionary(grouping: wanted.indices) { StoredName.key(wanted[$0].stem) }
        var doubtful: [Int] = []
        for index in wanted.indices {
            // A table that has hardly any of the columns may belong to another entity; so may one that lacks any, if
            // names differ only in a number.
            let isAlone = stems[StoredName.key(wanted[index].stem)]?.count == 1
            if let table = existing[StoredName.key(wanted[index].name)],
                share(of: wanted[index], in: table.columns) >= (isAlone ? 0.5 : 1)
            {
                take(index, table.name)
            } else {
                doubtful.append(index)
            }
        }
        guard !doubtful.isEmpty else { return result }
        for resemblance in Resemblance.allCases {
            let open = doubtful.filter { result[$0] == .missing }
            guard !open.isEmpty, !free.isEmpty else { break }
            let candidates = open.map { index in
                free.filter { resembles($0.key, $0.value.columns, wanted[index], resemblance) }.map(\.value.name)
                    .sorted()
            }
            for (index, match) in zip(open, Assignment(candidates).matches) {
                switch match {
                case .found(let name): take(index, name)
                case .ambiguous(let names): result[index] = .ambiguous(names)
                case .missing: break
                }
            }
            for case .ambiguous(let names) in result { for name in names { free[StoredName.key(name)] = nil } }
        }
        return result
    }

    private enum Resemblance: CaseIterable {
        /// A name that differs in its number, or is the entity's former name, with all columns.
        case name
        /// Any name, with all columns.
        case columns
        /// The name by the rules, with few of the columns.
        case exact
        /// A name in other capitals, or truncated, with most of the columns.
        case distant
    }

    private func resembles(
        _ key: String, _ columns: [TableDefinition.Column], _ wanted: WantedTable, _ resemblance: Resemblance
    ) -> Bool {
        let stem = StoredName.key(wanted.stem)
        switch resemblance {
        case .name:
            let names = [stem] + [wanted.former].compactMap { $0 }.map(StoredName.key)
            return names.contains { StoredName.isNumbered(key, stem: $0) } && share(of: wanted, in: columns) == 1
        // A few columns are no sufficient evidence.
        case .columns: return wanted.columns.count > 2 && share(of: wanted, in: columns) == 1
        case .exact: return key == StoredName.key(wanted.name)
        case .distant:
            return share(of: wanted, in: columns) >= 0.5
                && (StoredName.isNumbered(StoredName.looseKey(key), stem: StoredName.looseKey(stem))
                    || StoredName.isNumbered(key, stem: stem) || StoredName.isTruncation(key, of: stem))
        }
    }

    /// The fraction of the wanted columns that a table has.
    private func share(of wanted: WantedTable, in columns: [TableDefinition.Column]) -> Double {
        guard !wanted.columns.isEmpty else { return 1 }
        let matching = ColumnMatching(columns)
        let found = wanted.columns.filter { matching.spelling($0.wanted.name) != nil }.count
        return Double(found) / Double(wanted.columns.count)
    }
}

/// Gives each wanted item one of its candidates, and no candidate to two items. Pure.
///
/// Only what all possible assignments have in common is assigned; the rest is ambiguous.
struct Assignment {
    let matches: [ColumnMatching.Match]

    /// - Parameter candidates: the candidates of each wanted item.
    init(_ candidates: [[String]]) {
        var search = Search(candidates)
        search.run()
        if let common = search.common, !search.gaveUp {
            matches = zip(common, candidates).map { names, all in
                names.count == 1 ? .found(names.first ?? "") : .ambiguous(all.filter(names.contains))
            }
            return
        }
        // Not every item can have a candidate: a candidate is certain only if no other item wants it.
        var counts: [String: Int] = [:]
        for name in candidates.joined() { counts[name, default: 0] += 1 }
        matches = candidates.map { names in
            if names.isEmpty { return .missing }
            return names.count == 1 && counts[names[0]] == 1 ? .found(names[0]) : .ambiguous(names)
        }
    }

    /// Enumerates the assignments in which every wanted item gets a candidate.
    private struct Search {
        private let candidates: [[String]]
        /// The candidates that each item gets in some assignment; nil until one was found.
        private(set) var common: [Set<String>]?
        private(set) var gaveUp = false
        private var chosen: [String] = []
        private var steps = 0

        init(_ candidates: [[String]]) { self.candidates = candidates }

        mutating func run() {
            guard !gaveUp else { return }
            steps += 1
            if steps > 20_000 {
                gaveUp = true
                return
            }
            guard chosen.count < candidates.count else {
                let way = chosen.map { Set([$0]) }
                common = common.map { zip($0, way).map { $0.union($1) } } ?? way
                return
            }
            for name in candidates[chosen.count] where !chosen.contains(name) {
                chosen.append(name)
                run()
                chosen.removeLast()
            }
        }
    }
}

/// The columns that a root entity's table must have: one for each attribute, to-one relationship and owner.
struct WantedTable {
    struct Column {
        let entity: EntityLayout
        /// The property; the composite for its elements.
        let property: String
        let wanted: ColumnMatching.Wanted
        /// The relationship whose owners the column holds.
        var owner: RelationshipLayout?
        /// For a relationship, the column with the destination's entity, by the rules.
        var entityColumn: String?
        /// For a relationship with an order, the column with the place, by the rules.
        var orderColumn: String?
    }

    let root: EntityLayout
    /// The name by the rules.
    let name: String
    /// The name without a number.
    let stem: String
    /// The table's name before the entity was renamed.
    let former: String?
    private(set) var columns: [Column] = []

    init(_ root: EntityLayout, members: [EntityLayout], names: SchemaNames) {
        self.root = root
        stem = "Z" + root.name.uppercased()
        name = names.tables[root.name] ?? stem
        let identifier = root.description.renamingIdentifier
        former = identifier.flatMap { $0 == root.name ? nil : "Z" + $0.uppercased() }
        for entity in members {
            let properties = entity.description.propertiesByName
            for (property, column) in (names.columns[entity.name] ?? [:]).sorted(by: { $0.key < $1.key }) {
                let renamed = properties[property]?.renamingIdentifier.flatMap { $0 == property ? nil : $0 }
                for leaf in column.flattened {
                    let path = leaf.property.split(separator: ".")
                    let base = path.last.map(String.init) ?? property
                    // Earlier versions of Pippin put the composite's name into the columns of its elements.
                    let others = path.count > 1 ? ["Z" + path.joined(separator: "_").uppercased()] : []
                    columns.append(
                        Column(
                            entity: entity, property: property,
                            wanted: .init(
                                name: leaf.name, stem: "Z" + base.uppercased(), others: others,
                                former: path.count > 1 ? nil : renamed.map { "Z" + $0.uppercased() },
                                type: leaf.storage.declaredType),
                            entityColumn: leaf.entityColumn, orderColumn: leaf.orderColumn))
                }
            }
            for owner in names.owners[entity.name] ?? [] {
                let stem = StoredName.numbered(owner.name, prefix: "Z").map {
                    "Z\($0.number)\(owner.relationship.name.uppercased())"
                }
                columns.append(
                    Column(
                        entity: entity, property: owner.relationship.name,
                        wanted: .init(name: owner.name, stem: stem ?? owner.name, type: "INTEGER", prefix: "Z"),
                        owner: owner.relationship, orderColumn: owner.orderColumn))
            }
        }
    }
}

/// How names in a store resemble those by the rules, from the closest to the most distant resemblance.
enum StoredName {
    /// A key that is equal for names that SQLite takes for one, which ignores the case of ASCII letters. The key also
    /// ignores the case and composition of letters with marks, which SQLite distinguishes; the file's spelling is used.
    static func key(_ name: String) -> String { name.uppercased() }

    /// The same without marks on letters, and without other differences between the uppercasing of different systems.
    static func looseKey(_ name: String) -> String {
        name.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil).uppercased()
            .replacingOccurrences(of: "ß", with: "SS").replacingOccurrences(of: "ı", with: "I")
    }

    /// Whether a name is a stem, possibly with a number that distinguishes it from others.
    static func isNumbered(_ name: String, stem: String) -> Bool {
        name.hasPrefix(stem) && name.dropFirst(stem.count).allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// Whether a name is a truncated form of a longer one, possibly followed by a number. Short names do not count.
    static func isTruncation(_ name: String, of long: String) -> Bool {
        let cut = unnumbered(name)
        return cut.count >= shortestTruncation && cut.count < long.count && long.hasPrefix(cut)
    }

    private static let shortestTruncation = 12

    /// The name without digits at its end.
    static func unnumbered(_ name: String) -> String {
        var end = name.endIndex
        while end > name.startIndex, let last = name[..<end].last, last.isASCII, last.isNumber {
            end = name.index(before: end)
        }
        return String(name[..<end])
    }

    /// The number and the rest of a name such as `Z_17PEOPLE`, after a prefix.
    static func numbered(_ name: String, prefix: String) -> (number: Int, rest: String)? {
        guard name.hasPrefix(prefix) else { return nil }
        let tail = name.dropFirst(prefix.count)
        let digits = tail.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), digits.count < tail.count else { return nil }
        return (number, String(tail.dropFirst(digits.count)))
    }
}
