import CompactCollections
import PredicateFormat
import CoreDataModel
import SQLGeneration
import Ordering

extension SQLSchema {
    /// The statements that create an empty store's tables, indexes and triggers, in Core Data's order: the entities'
    /// tables, their indexes, the triggers of derived attributes, the bookkeeping.
    ///
    /// - Throws: an `NSError` for a derived attribute whose expression a trigger cannot compute.
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

    /// The rows of `Z_PRIMARYKEY`: number, name, and the superentity's number or 0.
    package var primaryKeyRows: [(number: Int, name: String, superNumber: Int)] {
        mappings.compactMap { $0 }.ordered { $0.number < $1.number }.map { mapping in
            let parent = mapping.layout.superentity.flatMap { self.mapping(of: $0) }
            return (mapping.number, mapping.layout.name, parent?.number ?? 0)
        }
    }
}
