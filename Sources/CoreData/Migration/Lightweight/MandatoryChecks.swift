/// Checks that the objects have what the new model makes mandatory, and that numbers fit their new types.
enum MandatoryChecks {
    static let missingAttribute = "Validation error missing attribute values on mandatory destination attribute"
    static let missingRelationship =
        "Validation error missing objects of a mandatory destination relationship"
    static let outOfRange = "A value does not fit the type of the destination attribute"

    static func steps(_ pair: SchemaPair) -> [MigrationStep] {
        pair.destinationMappings.flatMap { mapping -> [MigrationStep] in
            guard let former = pair.former(mapping), let plan = pair.plan(for: mapping) else { return [] }
            let slots = mapping.layout.slots.indices.flatMap { slot -> [MigrationStep] in
                check(mapping.layout.slots[slot], mapping.columns[slot], mapping, former, plan, pair)
            }
            let toManys = mapping.layout.toManys.compactMap { check($0, mapping, former, plan) }
            return slots + toManys
        }
    }

    private static func check(
        _ slot: SlotLayout, _ column: SlotColumn?, _ mapping: EntityMapping, _ former: EntityMapping,
        _ plan: EntityPlan,
        _ pair: SchemaPair
    ) -> [MigrationStep] {
        guard let column, !column.isComposite, !column.isDerived else { return [] }
        let sourceSlot = plan.source(of: slot.name).flatMap { former.layout.slotIndex(forName: $0) }
            .map { former.layout.slots[$0] }
        let table = quoted(mapping.table)
        let rows = "Z_ENT = \(mapping.number)"
        let name = quoted(column.name)
        var steps: [MigrationStep] = []
        if !slot.isOptional, slot.defaultValue.isNull, sourceSlot?.isOptional ?? true {
            let isRelationship = slot.relationship != nil
            steps.append(
                .expectNone(
                    "SELECT Z_PK FROM \(table) WHERE \(rows) AND \(name) IS NULL LIMIT 1",
                    MigrationViolation(
                        entity: mapping.layout.name, property: slot.name, isRelationship: isRelationship,
                        reason: isRelationship ? missingRelationship : missingAttribute)))
        }
        if let attribute = slot.attribute, let source = sourceSlot?.attribute,
            let bounds = ColumnConversion.bounds(from: source, to: attribute)
        {
            steps.append(
                .expectNone(
                    "SELECT Z_PK FROM \(table) WHERE \(rows) AND \(name) NOT BETWEEN \(bounds.lowerBound) AND "
                        + "\(bounds.upperBound) LIMIT 1",
                    MigrationViolation(entity: mapping.layout.name, property: slot.name, reason: outOfRange)))
        }
        return steps
    }

    /// A to-many relationship that must not be empty any more.
    private static func check(
        _ relationship: RelationshipLayout, _ mapping: EntityMapping, _ former: EntityMapping, _ plan: EntityPlan
    ) -> MigrationStep? {
        guard !relationship.isOptional, let toMany = mapping.toManys[relationship.index] else { return nil }
        let source = plan.source(of: relationship.name).flatMap { former.layout.relationship(named: $0) }
        guard source?.isOptional ?? true else { return nil }
        let table = quoted(mapping.table)
        let related: String
        switch toMany {
        case .foreignKey(let key):
            related = "SELECT 1 FROM \(quoted(key.table)) o WHERE o.\(quoted(key.column)) = \(table).Z_PK"
        case .joinTable(let join):
            related = "SELECT 1 FROM \(quoted(join.table)) o WHERE o.\(quoted(join.sourceColumn)) = \(table).Z_PK"
        }
        return .expectNone(
            "SELECT Z_PK FROM \(table) WHERE Z_ENT = \(mapping.number) AND NOT EXISTS (\(related)) LIMIT 1",
            MigrationViolation(
                entity: mapping.layout.name, property: relationship.name, isRelationship: true,
                reason: missingRelationship))
    }
}
