import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

/// What others have added to the tables of a store: columns, triggers and row-level security. Pure.
///
/// A table that stays keeps it. One that is made anew would lose it, and with it values, or who may read what.
struct TableAdditions {
    /// The additions that would be lost, by the table's name.
    private let lost: [(table: String, additions: [String])]

    /// - Parameters:
    ///   - tables: the tables that are made anew.
    ///   - structure: the tables as they are.
    init(to tables: [TableCreation.TableStatement], in structure: DatabaseStructure) {
        lost = tables.compactMap { table in
            let columns = (structure.columns[table.table] ?? [:]).keys.filter { !table.columns.contains($0) }
            let parts = structure.parts[table.table] ?? []
            let additions =
                columns.sorted().map { "the column “\($0)”" }
                + ([table.table] + parts).flatMap { structure.guards[$0] ?? [] }
            return additions.isEmpty ? nil : (QualifiedName.name(table.table), additions)
        }
    }

    /// - Throws: 134110, which names all of it, if anything would be lost.
    func check(_ place: StorePlace) throws {
        guard !lost.isEmpty else { return }
        let list = lost.map { "\($0.table): \($0.additions.joined(separator: ", "))" }.joined(separator: "; ")
        throw StoreError.make(
            CoreDataErrorCode.migration,
            "The store “\(place.name)” cannot be migrated: tables that are made anew would lose what others have added "
                + "(\(list)). The store is as it was.", url: place.shownURL,
            suggestion: "Remove it before the migration, and add it again afterwards; copy the values of columns.",
            userInfo: ["tables": lost.map(\.table)])
    }
}
