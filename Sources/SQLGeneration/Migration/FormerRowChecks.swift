import CoreDataModel
import MigrationPlans

/// Checks of the rows as they are before a migration: that numbers fit their new types, and that no object is of an
/// entity which cannot have objects in the store any more, or had none when the migration was planned.
package enum FormerRowChecks {
    package static func checks(_ pair: SchemaPair) -> [MigrationCheck] {
        pair.sourceMappings.compactMap { strays($0, pair) }
            + pair.destinationMappings.flatMap { mapping -> [MigrationCheck] in
                guard let former = pair.former(mapping), let plan = pair.plan(for: mapping) else { return [] }
                return homeless(mapping, former)
                    + mapping.layout.slots.indices.flatMap { index -> [MigrationCheck] in
                        let slot = mapping.layout.slots[index]
                        guard let column = mapping.columns[index], !column.isDerived, let attribute = slot.attribute,
                            let old = plan.source(of: slot.name).flatMap({ former.layout.slotIndex(forName: $0) }),
                            let oldColumn = former.columns[old], let source = former.layout.slots[old].attribute
                        else { return [] }
                        return numbers(oldColumn, source, column, attribute, slot.name, mapping, former)
                    }
            }
    }

    // MARK: Entities

    /// Objects whose entity the model still has, but not the store's configuration, and those that somebody saved after
    /// their entity was found to be empty: they would be deleted.
    private static func strays(_ former: EntityMapping, _ pair: SchemaPair) -> MigrationCheck? {
        if pair.plan.emptyEntities.contains(former.layout.name) {
            return MigrationCheck(
                CheckSQL.rows(of: former),
                MigrationViolation(entity: former.layout.name, reason: MigrationViolation.replacedEntity))
        }
        guard let name = pair.plan.entity(source: former.layout.name)?.destination,
            pair.successor(former.layout) == nil
        else { return nil }
        return MigrationCheck(
            CheckSQL.rows(of: former), MigrationViolation(entity: name, reason: MigrationViolation.notInConfiguration))
    }

    /// Objects of an entity that becomes abstract: no fetch would find them as what they are.
    private static func homeless(_ mapping: EntityMapping, _ former: EntityMapping) -> [MigrationCheck] {
        guard mapping.layout.isAbstract, !former.layout.isAbstract else { return [] }
        return [
            MigrationCheck(
                CheckSQL.rows(of: former),
                MigrationViolation(entity: mapping.layout.name, reason: MigrationViolation.abstractEntity))
        ]
    }

    // MARK: Numbers

    private static func numbers(
        _ former: SlotColumn, _ source: AttributeLayout, _ column: SlotColumn, _ attribute: AttributeLayout,
        _ path: String, _ mapping: EntityMapping, _ formerMapping: EntityMapping
    ) -> [MigrationCheck] {
        if former.isComposite, column.isComposite {
            let names = attribute.elementSources(in: source)
            return attribute.elements.flatMap { element -> [MigrationCheck] in
                guard let name = names[element.name],
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

/// A `SELECT` that must return no rows, and the meaning of a row.
package struct MigrationCheck {
    package let select: SQLFragment
    package let violation: MigrationViolation

    package init(_ select: SQLFragment, _ violation: MigrationViolation) {
        (self.select, self.violation) = (select, violation)
    }
}
