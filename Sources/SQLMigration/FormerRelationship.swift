import CompactCollections
import CoreDataModel
import MigrationPlans
import SQLGeneration

/// A relationship of the source whose pairs a relationship of the destination takes over.
package struct FormerRelationship {
    package let layout: RelationshipLayout
    /// The table and the entities of the objects that had it; nil if all objects with pairs of the relationship did.
    let restriction: (table: String, numbers: [Int])?

    /// The conditions on a pair that its source, whose key is given, is one of these objects.
    func conditions(_ key: SQLFragment) -> [SQLFragment] {
        restriction.map { [PairMoveSQL.exists(key, in: $0.table, $0.numbers)] } ?? []
    }
}

extension SchemaPair {
    /// The former relationships of a destination's relationship, by the entities that inherit it: several if properties
    /// of subentities became one.
    package func formers(_ relationship: RelationshipLayout) -> [FormerRelationship] {
        known.formers(relationship) { foundFormers(relationship) }
    }

    private func foundFormers(_ relationship: RelationshipLayout) -> [FormerRelationship] {
        var found: [(layout: RelationshipLayout, members: [EntityMapping])] = []
        var positions: [ObjectIdentifier: Int] = [:]
        // How many of the relationships the objects of an entity and its subentities have.
        var counts: [ObjectIdentifier: Int] = [:]
        for member in relationship.source.selfAndSubentities {
            guard let mapping = destination.mapping(of: member), let former = former(mapping),
                let layout = plan(for: mapping)?.source(of: relationship.name).flatMap({
                    former.layout.relationship(named: $0)
                })
            else { continue }
            if let position = positions[ObjectIdentifier(layout)] {
                found[position].members.append(mapping)
                continue
            }
            positions[ObjectIdentifier(layout)] = found.count
            found.append((layout, [mapping]))
            for entity in sequence(first: layout.source, next: \.superentity) {
                counts[ObjectIdentifier(entity), default: 0] += 1
            }
        }
        return found.map { layout, members in
            // Objects of a subentity may have the pairs of another relationship than those of its parent.
            let isShared = counts[ObjectIdentifier(layout.source), default: 0] > 1
            return FormerRelationship(
                layout: layout, restriction: isShared ? (members[0].table, members.map(\.number)) : nil)
        }
    }

    /// The former relationships of the inverse whose pairs no former relationship of this side has: for a relationship
    /// that becomes its own inverse, what it was itself.
    package func formersOfInverse(_ relationship: RelationshipLayout) -> [FormerRelationship] {
        guard let inverse = relationship.inverse else { return [] }
        let own = formers(relationship)
        return formers(inverse).filter { former in !own.contains { $0.layout === former.layout.inverse } }
    }
}
