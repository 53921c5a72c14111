import PredicateFormat
import CoreDataModel
import SQLGeneration
import Ordering

extension SQLSchema {
    /// The statements that make an empty store's tables, indexes and triggers, in the order in which Core Data makes
    /// them: the entities' tables, their indexes, the triggers of derived attributes, the bookkeeping.
    ///
    /// - Throws: an `NSError` for a derived attribute whose expression no trigger can compute.
    package func creationStatements() throws -> [String] {
        let roots = layout.entities.filter { $0.superentity == nil && mapping(of: $0) != nil }
        var creations: [String] = []
        for root in roots {
            creations += tables.filter { $0.name == mapping(of: root)?.table }.map(\.creation)
            creations += joinTables.filter { $0.rootName == root.name }.map(\.table.creation)
        }
        for root in roots {
            creations += indexes(of: root).map(\.creation)
            creations += joinTables.filter { $0.rootName == root.name }.map(\.index.creation)
        }
        creations += try derivedAttributeTriggers().map(\.creation)
        return creations + StoreTables.bookkeeping
    }

    /// The rows of `Z_PRIMARYKEY`: number, name, the superentity's number or 0.
    package var primaryKeyRows: [(number: Int, name: String, superNumber: Int)] {
        mappings.compactMap { $0 }.ordered { $0.number < $1.number }.map { mapping in
            let parent = mapping.layout.superentity.flatMap { self.mapping(of: $0) }
            return (mapping.number, mapping.layout.name, parent?.number ?? 0)
        }
    }
}
