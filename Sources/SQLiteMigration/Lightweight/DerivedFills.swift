import CoreDataModel
import MigrationPlans
import SQLGeneration
import SQLMigration

/// Statements that compute derived attributes of existing objects: new ones, ones with a changed expression, ones whose
/// attribute gets other values, and ones that depend on other objects, which may have been removed.
enum DerivedFills {
    static func statements(_ pair: SchemaPair) throws -> [SQLFragment] {
        try pair.destinationMappings.flatMap { mapping -> [SQLFragment] in
            let inherited = mapping.layout.superentity?.slots.count ?? 0
            return try mapping.layout.slots[inherited...].compactMap { slot -> SQLFragment? in
                guard let attribute = slot.attribute?.description as? NSDerivedAttributeDescription, !slot.isTransient,
                    let expression = attribute.derivationExpression, let column = mapping.column(named: slot.name),
                    let derivation = Derivation(expressionTree(of: expression))
                else { return nil }
                guard try needsValue(slot, derivation, mapping, pair) else { return nil }
                return DerivationSQL.fill(column.name, derivation, mapping, pair.destination)
            }
        }
    }

    private static func needsValue(
        _ slot: SlotLayout, _ derivation: Derivation, _ mapping: EntityMapping, _ pair: SchemaPair
    ) throws -> Bool {
        switch derivation {
        case .aggregate: return true
        case .value(let path, _):
            if try path.count > 1 || !pair.keepsValues(of: path[0], mapping) { return true }
        case .now: break
        }
        guard let former = pair.former(mapping), let name = pair.plan(for: mapping)?.source(of: slot.name),
            let index = former.layout.slotIndex(forName: name)
        else { return true }
        return former.layout.slots[index].attribute?.derivation != slot.attribute?.derivation
    }
}
