import CompactCollections
import CoreDataModel
import MigrationPlans
import SQLGeneration

/// Checks that the objects have the values that the new model makes mandatory, and that numbers fit their new types.
///
/// To-many relationships may be empty, even if the new model has a minimum count, as in Core Data: it validates them
/// when such an object is next saved.
package enum MandatoryChecks {
    /// A `SELECT` that must return no rows, and the meaning of a row.
    package struct Check {
        package let select: SQLFragment
        package let violation: MigrationViolation

        package init(_ select: SQLFragment, _ violation: MigrationViolation) {
            (self.select, self.violation) = (select, violation)
        }
    }

    package static func checks(_ pair: SchemaPair) -> [Check] {
        pair.destinationMappings.flatMap { mapping -> [Check] in
            guard let former = pair.former(mapping), let plan = pair.plan(for: mapping) else { return [] }
            return mapping.layout.slots.indices.flatMap { slot -> [Check] in
                check(mapping.layout.slots[slot], mapping.columns[slot], mapping, former, plan, pair)
            }
        }
    }

    private static func check(
        _ slot: SlotLayout, _ column: SlotColumn?, _ mapping: EntityMapping, _ former: EntityMapping,
        _ plan: EntityMappingPlan,
        _ pair: SchemaPair
    ) -> [Check] {
        guard let column, !column.isDerived else { return [] }
        let sourceSlot = plan.source(of: slot.name).flatMap { former.layout.slotIndex(forName: $0) }
            .map { former.layout.slots[$0] }
        if column.isComposite {
            guard let attribute = slot.attribute, attribute.tellsPresence else { return [] }
            return nestedChecks(column, attribute, slot.name, within: [], mapping)
        }
        var steps: [Check] = []
        if !slot.isOptional, slot.defaultValue.isNull, sourceSlot?.isOptional ?? true {
            let isRelationship = slot.relationship != nil
            steps.append(
                Check(
                    CheckSQL.missing(column.name, of: mapping),
                    MigrationViolation(
                        entity: mapping.layout.name, property: slot.name, isRelationship: isRelationship,
                        reason: isRelationship
                            ? MigrationViolation.missingRelationship : MigrationViolation.missingAttribute)))
        }
        if let attribute = slot.attribute, let source = sourceSlot?.attribute,
            let bounds = ColumnConversion.bounds(from: source, to: attribute)
        {
            steps.append(
                Check(
                    CheckSQL.outside(bounds, column.name, of: mapping),
                    MigrationViolation(
                        entity: mapping.layout.name, property: slot.name, reason: MigrationViolation.outOfRange)))
        }
        return steps
    }

    /// Checks the elements of a composite attribute that are required to read a value, in rows that have a value.
    private static func nestedChecks(
        _ column: SlotColumn, _ attribute: AttributeLayout, _ path: String, within present: [[String]],
        _ mapping: EntityMapping
    ) -> [Check] {
        let present = attribute.isAlwaysPresent ? present : present + [column.flattened.map(\.name)]
        return column.elements.flatMap { element -> [Check] in
            let name = NestedColumns.name(of: element)
            guard let layout = attribute.elements.first(where: { $0.name == name }) else { return [] }
            let path = "\(path).\(name)"
            if element.isComposite { return nestedChecks(element, layout, path, within: present, mapping) }
            guard !layout.description.isOptional else { return [] }
            return [
                Check(
                    CheckSQL.missing(element.name, of: mapping, whereAnyOf: present),
                    MigrationViolation(
                        entity: mapping.layout.name, property: path, reason: MigrationViolation.missingAttribute))
            ]
        }
    }
}
