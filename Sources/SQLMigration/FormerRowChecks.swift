import CompactCollections
import CoreDataModel
import MigrationPlans
import SQLGeneration

/// Checks of the rows as they are before a migration: that numbers fit their new types.
package enum FormerRowChecks {
    package static func checks(_ pair: SchemaPair) -> [MigrationCheck] {
        pair.destinationMappings.flatMap { mapping -> [MigrationCheck] in
                guard let former = pair.former(mapping), let plan = pair.plan(for: mapping) else { return [] }
                return mapping.layout.slots.indices.flatMap { index -> [MigrationCheck] in
                        let slot = mapping.layout.slots[index]
                        guard let column = mapping.columns[index], !column.isDerived, let attribute = slot.attribute,
                            let old = plan.source(of: slot.name).flatMap({ former.layout.slotIndex(forName: $0) }),
                            let oldColumn = former.columns[old], let source = former.layout.slots[old].attribute
                        else { return [] }
                        return numbers(oldColumn, source, column, attribute, slot.name, mapping, former)
                    }
            }
    }

    private static func numbers(
        _ former: SlotColumn, _ source: AttributeLayout, _ column: SlotColumn, _ attribute: AttributeLayout,
        _ path: String, _ mapping: EntityMapping, _ formerMapping: EntityMapping
    ) -> [MigrationCheck] {
        if former.isComposite, column.isComposite {
            return attribute.elements.flatMap { element -> [MigrationCheck] in
                guard let name = attribute.elementSources(in: source)[element.name],
                    let old = source.elements.first(where: { $0.name == name }),
                    let oldColumn = former.elements.first(where: { NestedColumns.name(of: $0) == name }),
                    let present = column.elements.first(where: { NestedColumns.name(of: $0) == element.name })
                else { return [] }
                return numbers(oldColumn, old, present, element, "\(path).\(element.name)", mapping, formerMapping)
            }
        }
        guard !former.isComposite, !column.isComposite, let limits = NumberLimits(from: source, to: attribute) else {
            return []
        }
        return [
            MigrationCheck(
                CheckSQL.outside(limits, former.name, of: formerMapping),
                MigrationViolation(
                    entity: mapping.layout.name, property: path, reason: MigrationViolation.outOfRange))
        ]
    }
}
