import CoreDataModel
import PredicateFormat
import SQLGeneration

extension SQLSchema {
    /// Whether a derived attribute depends on itself: the total of a folder on those of its boxes, and these on those
    /// of their folders.
    func isCircular(_ derived: DerivedColumn) -> Bool {
        let start = AttributePlace(derived.mapping, derived.property)
        var passed: Set<AttributePlace> = []
        var (mapping, property) = (derived.mapping, derived.property)
        while let next = source(of: property, in: mapping) {
            (mapping, property) = next
            let place = AttributePlace(mapping, property)
            if place == start { return true }
            // A circle of others.
            guard passed.insert(place).inserted else { return false }
        }
        return false
    }

    /// The attribute that a derived one is computed from; nil for other attributes, and for one that needs none.
    private func source(of property: String, in mapping: EntityMapping) -> (EntityMapping, String)? {
        guard let slot = mapping.layout.slotIndex(forName: property),
            let attribute = mapping.layout.slots[slot].attribute?.description as? NSDerivedAttributeDescription,
            let derivation = attribute.derivationExpression.flatMap({ Derivation(expressionTree(of: $0)) })
        else { return nil }
        let path: [String]
        switch derivation {
        case .now, .aggregate(_, _, nil): return nil
        case .value(let keys, _): path = keys
        case .aggregate(let relationship, _, .some(let attribute)): path = [relationship, attribute]
        }
        if path.count == 1 { return (mapping, path[0]) }
        let destination = mapping.layout.relationship(named: path[0])?.destination
        return destination.flatMap { self.mapping(of: $0) }.map { ($0, path[1]) }
    }
}

/// Where the values of an attribute are; entities that share a table may share a column.
private struct AttributePlace: Hashable {
    private let table: String
    private let column: String

    init(_ mapping: EntityMapping, _ property: String) {
        table = mapping.table
        column = mapping.column(named: property)?.name ?? property
    }
}
