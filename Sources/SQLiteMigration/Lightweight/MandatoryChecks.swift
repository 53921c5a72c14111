import SQLiteEngine
import CoreDataModel
import MigrationPlans
import SQLGeneration

/// Checks that the objects have what the new model makes mandatory, and that numbers fit their new types.
///
/// To-many relationships may be empty, also where the new model has a minimum count, as in Core Data: it validates them when
/// such an object is next saved.
enum MandatoryChecks {
    static func steps(_ pair: SchemaPair) -> [MigrationStep] {
        pair.destinationMappings.flatMap { mapping -> [MigrationStep] in
            guard let former = pair.former(mapping), let plan = pair.plan(for: mapping) else { return [] }
            return mapping.layout.slots.indices.flatMap { slot -> [MigrationStep] in
                check(mapping.layout.slots[slot], mapping.columns[slot], mapping, former, plan, pair)
            }
        }
    }

    private static func check(
        _ slot: SlotLayout, _ column: SlotColumn?, _ mapping: EntityMapping, _ former: EntityMapping,
        _ plan: EntityMappingPlan,
        _ pair: SchemaPair
    ) -> [MigrationStep] {
        guard let column, !column.isDerived else { return [] }
        let sourceSlot = plan.source(of: slot.name).flatMap { former.layout.slotIndex(forName: $0) }
            .map { former.layout.slots[$0] }
        let table = quoted(mapping.table)
        let rows = "Z_ENT = \(mapping.number)"
        if column.isComposite {
            guard let attribute = slot.attribute, attribute.tellsPresence else { return [] }
            return nestedChecks(column, attribute, slot.name, within: "\(rows)", mapping, table)
        }
        let name = quoted(column.name)
        var steps: [MigrationStep] = []
        if !slot.isOptional, slot.defaultValue.isNull, sourceSlot?.isOptional ?? true {
            let isRelationship = slot.relationship != nil
            steps.append(
                .expectNone(
                    "SELECT Z_PK FROM \(table) WHERE \(rows) AND \(name) IS NULL LIMIT 1",
                    MigrationViolation(
                        entity: mapping.layout.name, property: slot.name, isRelationship: isRelationship,
                        reason: isRelationship
                            ? MigrationViolation.missingRelationship : MigrationViolation.missingAttribute)))
        }
        if let attribute = slot.attribute, let source = sourceSlot?.attribute,
            let bounds = ColumnConversion.bounds(from: source, to: attribute)
        {
            steps.append(
                .expectNone(
                    "SELECT Z_PK FROM \(table) WHERE \(rows) AND \(name) NOT BETWEEN \(bounds.lowerBound) AND "
                        + "\(bounds.upperBound) LIMIT 1",
                    MigrationViolation(
                        entity: mapping.layout.name, property: slot.name, reason: MigrationViolation.outOfRange)))
        }
        return steps
    }

    /// Of the elements of a composite attribute, those that a value needs to be read, in the rows that have a value.
    private static func nestedChecks(
        _ column: SlotColumn, _ attribute: AttributeLayout, _ path: String, within rows: String,
        _ mapping: EntityMapping, _ table: String
    ) -> [MigrationStep] {
        var rows = rows
        if !attribute.isAlwaysPresent {
            let present = column.flattened.map { "\(quoted($0.name)) IS NOT NULL" }.joined(separator: " OR ")
            rows += " AND (\(present))"
        }
        return column.elements.flatMap { element -> [MigrationStep] in
            let name = NestedColumns.name(of: element)
            guard let layout = attribute.elements.first(where: { $0.name == name }) else { return [] }
            let path = "\(path).\(name)"
            if element.isComposite { return nestedChecks(element, layout, path, within: rows, mapping, table) }
            guard !layout.description.isOptional else { return [] }
            return [
                .expectNone(
                    "SELECT Z_PK FROM \(table) WHERE \(rows) AND \(quoted(element.name)) IS NULL LIMIT 1",
                    MigrationViolation(
                        entity: mapping.layout.name, property: path, reason: MigrationViolation.missingAttribute))
            ]
        }
    }
}
