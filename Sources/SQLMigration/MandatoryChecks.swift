import CompactCollections
import CoreDataModel
import MigrationPlans
import SQLGeneration

/// Checks that the objects have the values that the new model makes mandatory.
///
/// To-many relationships may be empty, even if the new model has a minimum count, as in Core Data: it validates them
/// when such an object is next saved.
package enum MandatoryChecks {
    package static func checks(_ pair: SchemaPair) -> [MigrationCheck] {
        pair.destinationMappings.flatMap { mapping -> [MigrationCheck] in
            guard let former = pair.former(mapping), let plan = pair.plan(for: mapping) else { return [] }
            return mapping.layout.slots.indices.flatMap { slot -> [MigrationCheck] in
                check(mapping.layout.slots[slot], mapping.columns[slot], mapping, former, plan, pair)
            }
        }
    }

    private static func check(
        _ slot: SlotLayout, _ column: SlotColumn?, _ mapping: EntityMapping, _ former: EntityMapping,
        _ plan: EntityMappingPlan, _ pair: SchemaPair
    ) -> [MigrationCheck] {
        guard let column, !column.isDerived else { return [] }
        let sourceSlot = plan.source(of: slot.name).flatMap { former.layout.slotIndex(forName: $0) }
            .map { former.layout.slots[$0] }
        if column.isComposite {
            guard let attribute = slot.attribute, attribute.tellsPresence else { return [] }
            return nestedChecks(column, attribute, slot.name, within: [], mapping)
        }
        // Objects of removed entities leave mandatory relationships empty, too.
        let loses = sourceSlot?.relationship.map { !pair.targets($0).areAllKept } ?? false
        guard !slot.isOptional, slot.defaultValue.isNull, loses || sourceSlot?.isOptional ?? true else { return [] }
        let isRelationship = slot.relationship != nil
        return [
            MigrationCheck(
                CheckSQL.missing(column.name, of: mapping),
                MigrationViolation(
                    entity: mapping.layout.name, property: slot.name, isRelationship: isRelationship,
                    reason: isRelationship
                        ? MigrationViolation.missingRelationship : MigrationViolation.missingAttribute))
        ]
    }

    /// Checks the elements of a composite attribute that are required to read a value, in rows that have a value.
    private static func nestedChecks(
        _ column: SlotColumn, _ attribute: AttributeLayout, _ path: String, within present: [[String]],
        _ mapping: EntityMapping
    ) -> [MigrationCheck] {
        let present = attribute.isAlwaysPresent ? present : present + [column.flattened.map(\.name)]
        return column.elements.flatMap { element -> [MigrationCheck] in
            let name = NestedColumns.name(of: element)
            guard let layout = attribute.elements.first(where: { $0.name == name }) else { return [] }
            let path = "\(path).\(name)"
            if element.isComposite { return nestedChecks(element, layout, path, within: present, mapping) }
            guard !layout.description.isOptional else { return [] }
            return [
                MigrationCheck(
                    CheckSQL.missing(element.name, of: mapping, whereAnyOf: present),
                    MigrationViolation(
                        entity: mapping.layout.name, property: path, reason: MigrationViolation.missingAttribute))
            ]
        }
    }
}
