import CoreDataModel
import MigrationPlans
import SQLGeneration
import SQLMigration

/// Statements that compute derived attributes of existing objects: new ones, ones with a changed expression, ones whose
/// attribute gets other values, and ones that depend on other objects, which may have been removed.
enum DerivedFills {
    /// - Parameters:
    ///   - pair: both versions of the tables.
    ///   - sources: the sources of the columns of the entities that are not new, by name.
    /// - Returns: the statements.
    static func statements(_ pair: SchemaPair, _ sources: [String: ColumnSources]) -> [SQLFragment] {
        pair.destinationMappings.flatMap { mapping -> [SQLFragment] in
            let inherited = mapping.layout.superentity?.slots.count ?? 0
            return mapping.layout.slots[inherited...].compactMap { slot -> SQLFragment? in
                guard let attribute = slot.attribute?.description as? NSDerivedAttributeDescription, !slot.isTransient,
                    let expression = attribute.derivationExpression, let column = mapping.column(named: slot.name),
                    let derivation = Derivation(expressionTree(of: expression))
                else { return nil }
                guard needsValue(slot, derivation, mapping, pair, sources) else { return nil }
                return DerivationSQL.fill(column.name, derivation, mapping, pair.destination)
            }
        }
    }

    private static func needsValue(
        _ slot: SlotLayout, _ derivation: Derivation, _ mapping: EntityMapping, _ pair: SchemaPair,
        _ sources: [String: ColumnSources]
    ) -> Bool {
        switch derivation {
        case .aggregate: return true
        case .value(let path, _):
            if path.count > 1 || !pair.keepsValues(of: path[0], mapping, by: sources) { return true }
        case .now: break
        }
        guard let former = pair.former(mapping), let name = pair.plan(for: mapping)?.source(of: slot.name),
            let index = former.layout.slotIndex(forName: name)
        else { return true }
        return former.layout.slots[index].attribute?.derivation != slot.attribute?.derivation
    }
}
