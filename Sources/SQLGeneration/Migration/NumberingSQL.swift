import CoreDataModel

/// The statements that renumber a store's entities. Pure.
package enum NumberingSQL {
    /// The counters, to be remembered during the renumbering: `SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY`.
    package static let greatestKeys: SQLFragment = "SELECT Z_ENT, Z_MAX FROM Z_PRIMARYKEY"

    /// `DELETE FROM Z_PRIMARYKEY WHERE Z_ENT IN (1, 2)`
    package static func removal(of numbers: [Int]) -> SQLFragment {
        "DELETE FROM Z_PRIMARYKEY WHERE \(SQLFragment.isEntity(numbers))"
    }

    /// Adds the number of one entity: `INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (1, 'Car', 0,
    /// 0)`.
    ///
    /// - Parameters:
    ///   - number: the entity's number.
    ///   - name: its name.
    ///   - parent: the number of its superentity, 0 for none.
    ///   - origins: the former numbers of the root entities whose greatest key it takes over.
    ///   - memory: the table that remembers the greatest keys.
    /// - Returns: the statement.
    package static func insertion(
        _ number: Int, _ name: String, parent: Int, continuing origins: [Int], in memory: SQLFragment
    ) -> SQLFragment {
        let greatest: SQLFragment = "SELECT MAX(Z_MAX) FROM \(memory) WHERE \(SQLFragment.isEntity(origins))"
        let maximum: SQLFragment = origins.isEmpty ? "0" : .call(.ifNull, .select(greatest), "0")
        let values: SQLFragment = "\(number: number), \(text: name), \(number: parent), \(maximum)"
        return "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (\(values))"
    }
}
