import CoreDataModel
import MigrationPlans
import PostgresConnection
import PostgresEngine
import SQLGeneration
import SQLMigration
import StoreEngine

// The steps after the rows have been moved: references, rights, the history.
extension DatabaseMigration {
    mutating func addReferences(dropped: Bool) {
        let former = source.references
        for reference in destination.references {
            let isFormer =
                former.contains(reference) && (structure.references[reference.table] ?? []).contains(reference.name)
            if isFormer, !dropped { continue }
            if !former.contains(where: { $0.table == reference.table && $0.column == reference.column }) {
                // Nothing has ensured so far that the referenced rows exist.
                let own: SQLFragment = "\(name: reference.table).\(name: reference.column)"
                let found: SQLFragment =
                    "SELECT 1 FROM \(name: reference.destination) d WHERE \(.key, of: "d") = \(own)"
                addStep([
                    "UPDATE \(name: reference.table) SET \(name: reference.column) = NULL WHERE \(name: reference.column) IS NOT NULL AND NOT EXISTS \(.select(found))"
                ])
            }
            addStep(reference.creation)
        }
        if !dropped {
            for reference in former
            where !destination.references.contains(reference)
                && (structure.references[reference.table] ?? []).contains(reference.name)
            {
                guard let place = places[reference.table], place != Self.formerName(reference.table) else { continue }
                addStep("\(alter(place)) DROP CONSTRAINT IF EXISTS \(quotedName(reference.name))")
            }
            return
        }
        for join in destination.tables where joins.kept.contains(join.table) {
            for reference in join.references { addStep(reference.creation) }
        }
    }

    /// Gives new tables the owner of the former ones whose rows they take, and grants the rights on these.
    mutating func grant() {
        let new = destination.tables.map(\.table).filter { table in
            joins.created.contains(table) || tables.contains { $0.table == table && $0.action != .alter }
        }
        for table in new {
            let (sources, all) = (tables.first { $0.table == table }?.sources ?? [table], source.tables.map(\.table))
            if let owner = structure.owner(fromRowsOf: sources, orAll: all) { give(table, to: owner) }
            for grant in structure.grants(fromRowsOf: sources, orAll: all) {
                let role = grant.role.isEmpty ? "PUBLIC" : quotedName(grant.role)
                if !grant.isOfSequence {
                    addStep("GRANT \(grant.right) ON \(quotedName(table)) TO \(role)")
                } else if !joins.created.contains(table) {
                    // Its name is the server's choice.
                    let sequence = "pg_get_serial_sequence(\(quotedText(quotedName(table))), '\(ColumnName.key)')"
                    let statement =
                        "EXECUTE 'GRANT \(grant.right) ON SEQUENCE ' || \(sequence) || \(quotedText(" TO " + role))"
                    addStep("DO \(quotedText("BEGIN \(statement); END"))")
                }
            }
        }
    }

    /// Another role may run the statements than the one for which they are planned.
    private mutating func give(_ table: String, to owner: DatabaseStructure.Owner) {
        guard owner.isCurrent else { return addStep(DatabaseStructure.giving(table, to: owner)) }
        let root = pair.destinationMappings(in: table).first { $0.layout.superentity == nil }
        let parts = root.flatMap { try? Partitioning($0) }?.parts(of: table) ?? []
        for name in [table] + parts { addStep("\(alter(name)) OWNER TO \(quotedName(owner.role))") }
    }

    /// Adapts the history to the entities' new properties, and removes the changes of removed entities.
    mutating func history() {
        guard let table = pair.destinationMappings.first?.table else { return }
        let schema = quotedText(QualifiedName.schema(table))
        let removed = pair.sourceMappings.filter { pair.successor($0.layout) == nil }.map(\.number)
        if !removed.isEmpty {
            let list = removed.map(String.init).joined(separator: ", ")
            addStep("DELETE FROM pippin.changes WHERE schema_name = \(schema) AND entity IN (\(list))")
        }
        var values: [String] = []
        let dialect = PostgresDialect()
        for (entity, mask) in structure.masks {
            guard let former = pair.source.mapping(number: entity), let successor = pair.successor(former.layout),
                let plan = pair.plan(for: successor)
            else { continue }
            let new = HistoryMask.converted(
                mask, from: .init(former.layout), to: .init(successor.layout), source: plan.source(of:))
            guard new != mask else { continue }
            let converted = new.map { dialect.literal(.blob($0)) } ?? "NULL::bytea"
            values.append("(\(entity), \(dialect.literal(.blob(mask))), \(converted))")
        }
        guard !values.isEmpty else { return }
        addStep(
            "UPDATE pippin.changes c SET columns = m.new FROM (VALUES \(values.joined(separator: ", "))) AS m(entity, old, new) "
                + "WHERE c.schema_name = \(schema) AND c.entity = m.entity AND c.columns = m.old")
    }
}
