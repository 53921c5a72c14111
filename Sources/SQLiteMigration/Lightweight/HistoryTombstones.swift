import CoreDataModel
import SQLGeneration
import SQLiteEngine
import StoreEngine

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
