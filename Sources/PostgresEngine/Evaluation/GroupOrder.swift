import CoreDataModel
import PredicateFormat
import StoreEngine

/// An order of groups that the database does not have, such as one by the rules of a language.
struct GroupOrder {
    private let terms: [SortTerm]
    /// The columns of what is compared.
    let columns: [FetchColumn]

    init(_ terms: [SortTerm]) {
        self.terms = terms
        columns = terms.enumerated().map { index, term in
            let key = NSExpression(forKeyPath: term.keyPath.joined(separator: "."))
            return .expression(name: Self.name(index), key, .undefinedAttributeType)
        }
    }

    /// The column's name; no property can have it.
    private static func name(_ index: Int) -> String { "\u{0}order\(index)" }

    /// The groups in this order, without what was compared.
    func sorted(_ groups: [[String: Any]]) -> [[String: Any]] {
        let names = terms.indices.map(Self.name)
        let rows = groups.map { group in (group: group, values: names.map { Value(group[$0]) }) }
        return rows.sorted { precedes($0.values, $1.values) }.map { row in
            var group = row.group
            for name in names { group[name] = nil }
            return group
        }
    }

    private func precedes(_ first: [Value], _ second: [Value]) -> Bool {
        for (index, term) in terms.enumerated() {
            switch term.comparison.compare(first[index], second[index]) {
            case .orderedAscending: return term.ascending
            case .orderedDescending: return !term.ascending
            case .orderedSame: continue
            }
        }
        return false
    }
}
