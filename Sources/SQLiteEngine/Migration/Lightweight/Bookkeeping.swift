import CoreDataModel
import Foundation
import MigrationPlans
import SQLGeneration
import StoreEngine

/// Statements for a store's own data about its entities: their numbers and greatest keys, and the history of their
/// objects.
enum Bookkeeping {
    /// Statements that rewrite `Z_PRIMARYKEY`. A root keeps the greatest key of the tables that its objects come from.
    static func primaryKeys(_ pair: SchemaPair) -> [SQLFragment] {
        let former = pair.sourceMappings.map(\.number)
        guard !former.isEmpty || !pair.destinationMappings.isEmpty else { return [] }
        let memory: SQLFragment = "_T_PRIMARYKEY"
        var statements: [SQLFragment] = [
            "CREATE TEMP TABLE \(memory) AS \(NumberingSQL.greatestKeys)", NumberingSQL.removal(of: former),
        ]
        for row in pair.destination.primaryKeyRows {
            statements.append(
                NumberingSQL.insertion(
                    row.number, row.name, parent: row.superNumber,
                    continuing: row.superNumber == 0 ? origins(of: row.name, in: pair) : [], in: memory))
        }
        return statements + ["DROP TABLE \(memory)"]
    }

    /// The numbers of the root entities that the objects of a root come from.
    private static func origins(of root: String, in pair: SchemaPair) -> [Int] {
        guard let layout = pair.destination.layout.entityByName[root] else { return [] }
        let roots = layout.selfAndSubentities.compactMap { pair.destination.mapping(of: $0) }
            .compactMap { pair.former($0) }.compactMap { pair.source.mapping(of: $0.layout.root)?.number }
        return Set(roots).sorted(by: <)
    }

    /// Updates the history to the entities' new numbers; changes of objects whose entity is removed are deleted.
    static func history(_ pair: SchemaPair, _ structure: StoreStructure) -> [MigrationStep] {
        guard structure.hasHistory else { return [] }
        var steps: [MigrationStep] = []
        func run(_ statement: SQLFragment) { steps.append(.run(statement.sqlite.text)) }
        let removed = pair.sourceMappings.filter { pair.successor($0.layout) == nil }.map(\.number)
        if !removed.isEmpty { run(HistoryMoveSQL.removal(of: removed)) }
        let reshaped = pair.sourceMappings.filter { former in
            pair.successor(former.layout).map {
                HistoryProperties($0.layout).names != HistoryProperties(former.layout).names
                    || pair.plan(for: $0).map(replacesProperties) ?? false
            } ?? false
        }.map(\.number)
        if !reshaped.isEmpty { run(HistoryMoveSQL.masks(of: reshaped)) }
        var columns = Set(structure.columnNames("ACHANGE"))
        for former in pair.sourceMappings {
            guard let successor = pair.successor(former.layout), let plan = pair.plan(for: successor) else { continue }
            steps += HistoryTombstones.statements(
                from: former.layout, to: successor.layout, number: former.number, columns: &columns,
                source: plan.source(of:)
            ).map(MigrationStep.run)
        }
        let moved = EntityNumbers(
            pair.sourceMappings.compactMap { former in
                pair.successor(former.layout).map { .init(old: former.number, new: $0.number) }
            }
        ).changing
        if !moved.isEmpty { run(HistoryMoveSQL.renumbering(moved)) }
        return steps
    }

    /// Whether a name stands for another property than before: a renamed one, or a new one.
    private static func replacesProperties(_ plan: EntityMappingPlan) -> Bool {
        (plan.attributes + plan.relationships).contains { $0.source != $0.name }
    }
}

/// The history's preserved values of deleted objects, in `ZTOMBSTONE0`, `ZTOMBSTONE1`, … in the order of their
/// attributes' names. If another version of an entity preserves other attributes, each value is moved to the column of
/// its new place.
enum HistoryTombstones {
    /// The statements for one entity.
    ///
    /// `UPDATE ACHANGE SET ZTOMBSTONE0 = ZTOMBSTONE1, ZTOMBSTONE1 = NULL WHERE ZENTITY = 3`
    ///
    /// - Parameters:
    ///   - former: the entity in the source.
    ///   - layout: the entity in the destination.
    ///   - number: the number of the entity in the changes.
    ///   - columns: the columns of `ACHANGE`; added columns are appended.
    ///   - source: the name of a new version's property in the former one.
    /// - Returns: the statements; empty if the tombstones stay where they are.
    static func statements(
        from former: EntityLayout, to layout: EntityLayout, number: Int, columns: inout Set<String>,
        source: (String) -> String?
    ) -> [String] {
        let (before, after) = (names(former), names(layout))
        let places = after.map { name in source(name).flatMap { before.firstIndex(of: $0) } }
        guard !before.isEmpty, places != before.indices.map(Optional.some) else { return [] }
        var statements: [String] = []
        for index in after.indices
        where places[index] != nil && columns.insert(HistorySQL.tombstone(index)).inserted {
            statements.append("ALTER TABLE ACHANGE ADD COLUMN \(HistorySQL.tombstone(index)) BLOB")
        }
        let moves = (0..<max(before.count, after.count)).compactMap { index -> (column: Int, source: Int?)? in
            guard columns.contains(HistorySQL.tombstone(index)) else { return nil }
            let place = index < places.count ? places[index] : nil
            guard place != index else { return nil }
            return (index, place.flatMap { columns.contains(HistorySQL.tombstone($0)) ? $0 : nil })
        }
        guard !moves.isEmpty else { return statements }
        return statements + [HistoryMoveSQL.tombstones(moves, of: number).sqlite.text]
    }

    private static func names(_ layout: EntityLayout) -> [String] {
        HistoryProperties(layout).preservedSlots.map { layout.slots[$0].name }
    }
}
