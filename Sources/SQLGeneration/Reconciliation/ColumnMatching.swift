/// Finds out which columns of a table belong to which properties. Pure.
///
/// A name from the rules is accepted if the table has it and nothing contradicts it. Similar names (`ZNAME`, `ZNAME1`)
/// are examined together: if one of them does not follow the rules, none of them is trusted, and only an unambiguous
/// assignment is accepted.
struct ColumnMatching {
    /// A column that the model needs.
    struct Wanted {
        /// The name by the rules.
        let name: String
        /// The name without a number.
        let stem: String
        /// Names by other rules, such as those of earlier versions of Pippin, in the same order for all columns of a
        /// kind. If all columns with similar names have those of one rule, these are used.
        var others: [String] = []
        /// The property's name before it was renamed, which a migration may have left.
        var former: String?
        /// The type that it is declared with.
        let type: String
        /// A prefix that may be followed by any number, such as that of an entity.
        var prefix: String?
    }

    enum Match: Equatable {
        case found(String)
        case ambiguous([String])
        case missing
    }

    private let existing: [String: TableDefinition.Column]
    /// The keys of columns that are still to be removed: names by the rules that include one are tried last.
    private let unused: Set<String>

    init(_ columns: [TableDefinition.Column], unused: Set<String> = []) {
        existing = Dictionary(columns.map { (StoredName.key($0.name), $0) }, uniquingKeysWith: { first, _ in first })
        self.unused = Set(unused.map(StoredName.key))
    }

    /// Whether the table has a column, and how it spells its name.
    func spelling(_ name: String) -> String? { existing[StoredName.key(name)]?.name }

    /// The matches of the columns, in the order of `wanted`.
    func matches(_ wanted: [Wanted]) -> [Match] {
        let exact = wanted.map { existing[StoredName.key($0.name)] }
        if unused.isEmpty, zip(wanted, exact).allSatisfy({ Self.fits($1?.declaredType, $0.type) }) {
            return exact.map { .found($0?.name ?? "") }
        }
        var result: [Match] = wanted.map { _ in .missing }
        var free = existing
        for family in families(wanted) {
            let members = family.map { wanted[$0] }
            for (index, match) in zip(family, resolve(members)) {
                result[index] = match
                if case .found(let name) = match { free[StoredName.key(name)] = nil }
            }
        }
        // A name that may belong to some family is available to no other.
        for case .ambiguous(let names) in result { for name in names { free[StoredName.key(name)] = nil } }
        for resemblance in Resemblance.allCases { search(wanted, resemblance, &result, &free) }
        return result
    }

    // MARK: Families

    /// Groups the indexes of wanted columns that may be confused with one another.
    private func families(_ wanted: [Wanted]) -> [[Int]] {
        var byColumn: [String: [Int]] = [:]
        var stems: [String: [Int]] = [:]
        for (index, column) in wanted.enumerated() { stems[StoredName.key(column.stem), default: []].append(index) }
        for key in existing.keys {
            // A column belongs to the families of all stems of which it is a numbered form.
            var stem = StoredName.unnumbered(key)
            var rest = key.dropFirst(stem.count)
            while true {
                if let indexes = stems[stem] { byColumn[key, default: []] += indexes }
                guard let digit = rest.popFirst() else { break }
                stem.append(digit)
            }
        }
        var parent = Array(wanted.indices)
        func root(_ index: Int) -> Int {
            var index = index
            while parent[index] != index { index = parent[index] }
            return index
        }
        for indexes in Array(stems.values) + Array(byColumn.values) {
            for index in indexes.dropFirst() { parent[root(index)] = root(indexes[0]) }
        }
        return Dictionary(grouping: wanted.indices, by: root).values.map { $0 }.sorted { $0[0] < $1[0] }
    }

    private func resolve(_ wanted: [Wanted]) -> [Match] {
        let rules = 0..<(wanted.map(\.others.count).min() ?? 0)
        let ways = [wanted.map(\.name)] + rules.map { rule in wanted.map { $0.others[rule] } }
        let found = ways.map { $0.map(StoredName.key) }.filter { has($0, for: wanted) }
        if let names = found.first(where: { unused.isDisjoint(with: $0) }) ?? found.first {
            return names.map { .found(existing[$0]?.name ?? "") }
        }
        let candidates = wanted.map { self.candidates($0) }
        return Assignment(candidates).matches
    }

    /// Whether the table has columns of these names that can hold the wanted ones.
    private func has(_ names: [String], for wanted: [Wanted]) -> Bool {
        let isAlone = wanted.count == 1
        return Set(names).count == names.count
            && zip(wanted, names).allSatisfy { column, name in
                guard let found = existing[name] else { return false }
                return Self.fits(found.declaredType, column.type) || isAlone && self.candidates(column).isEmpty
            }
    }

    /// The columns that match a wanted one by name and type, sorted.
    private func candidates(_ column: Wanted) -> [String] {
        let stem = StoredName.key(column.stem)
        let others = Set(column.others.map(StoredName.key))
        return existing.filter { key, found in
            (StoredName.isNumbered(key, stem: stem) || others.contains(key))
                && Self.fits(found.declaredType, column.type)
        }.map(\.value.name).sorted()
    }

    // MARK: What is left

    private enum Resemblance: CaseIterable { case former, number, loose, truncated }

    /// Assigns leftover columns to missing ones if they resemble each other one to one and resemble no others.
    private func search(
        _ wanted: [Wanted], _ resemblance: Resemblance, _ result: inout [Match],
        _ free: inout [String: TableDefinition.Column]
    ) {
        let open = wanted.indices.filter { result[$0] == .missing }
        guard !open.isEmpty, !free.isEmpty else { return }
        let candidates = open.map { index -> [String] in
            let similar = free.filter { resembles($0.key, wanted[index], resemblance) }
            return similar.filter { Self.fits($0.value.declaredType, wanted[index].type) }.map(\.value.name).sorted()
        }
        for (index, match) in zip(open, Assignment(candidates).matches) where match != .missing {
            result[index] = match
            switch match {
            case .found(let name): free[StoredName.key(name)] = nil
            case .ambiguous(let names): for name in names { free[StoredName.key(name)] = nil }
            case .missing: break
            }
        }
    }

    private func resembles(_ key: String, _ wanted: Wanted, _ resemblance: Resemblance) -> Bool {
        switch resemblance {
        case .former:
            return wanted.former.map { StoredName.isNumbered(key, stem: StoredName.key($0)) } ?? false
        case .number:
            guard let prefix = wanted.prefix,
                let own = StoredName.numbered(StoredName.key(wanted.stem), prefix: prefix),
                let other = StoredName.numbered(key, prefix: prefix)
            else { return false }
            return StoredName.isNumbered(other.rest, stem: own.rest)
        case .loose:
            return StoredName.isNumbered(StoredName.looseKey(key), stem: StoredName.looseKey(wanted.stem))
        case .truncated: return StoredName.isTruncation(key, of: StoredName.key(wanted.stem))
        }
    }

    /// Whether a column can hold a property, by their declared types. Types that Core Data does not use are not
    /// considered.
    static func fits(_ declared: String?, _ wanted: String) -> Bool {
        guard let declared else { return false }
        let type = declared.uppercased()
        return type == wanted || type.hasPrefix(wanted + "(") || !known.contains(type)
    }

    private static let known: Set<String> = ["INTEGER", "FLOAT", "TIMESTAMP", "DECIMAL", "VARCHAR", "BLOB"]
}

/// The content of an existing store: the numbers of its entities, its tables and their columns.
package struct StoreCatalog: Sendable {
    /// `Z_PRIMARYKEY`: entity names and their numbers.
    package var numbers: [String: Int]
    /// Tables and their columns, as the file spells them.
    package var tables: [String: [TableDefinition.Column]]
    /// Columns that nothing uses any more, by table: a migration has deferred their removal.
    package var unused: [String: Set<String>]

    package init(
        numbers: [String: Int], tables: [String: [TableDefinition.Column]], unused: [String: Set<String>] = [:]
    ) {
        (self.numbers, self.tables, self.unused) = (numbers, tables, unused)
    }
}
