import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

// The files that become superfluous when columns with external storage are overwritten.
//
// In a store that an earlier build migrated, two columns of a row may name one file, which then stays for the other.
extension OpenStore {
    /// Records the files that a change of one row makes superfluous.
    ///
    /// - Parameters:
    ///   - access: the entity and its tables.
    ///   - slots: the changed properties; nil if the row is deleted.
    ///   - key: the row's key.
    ///   - files: records the files.
    /// - Throws: SQLite's errors.
    func noteFiles(of access: EntityAccess, _ slots: [Int]?, inRow key: Int64, _ files: ExternalFiles) throws {
        let external = access.writer.externalSlots
        if external.isEmpty { return }
        let changed = external.filter { slots?.contains($0) ?? true }
        let references = try columns(of: changed, access).compactMap { try fileReference(of: access, $0, inRow: key) }
        if references.isEmpty { return }
        let kept = try columns(of: external.filter { !changed.contains($0) }, access).compactMap {
            try fileReference(of: access, $0, inRow: key)
        }
        for reference in references where !kept.contains(reference) { try files.replaced(reference) }
    }

    /// The columns of slots whose values may be in files.
    private func columns(of slots: [Int], _ access: EntityAccess) -> [String] {
        slots.flatMap { access.mapping.columns[$0]?.externalColumns ?? [] }
    }

    /// The bytes of a column, if they name a file.
    private func fileReference(of access: EntityAccess, _ column: String, inRow key: Int64) throws -> Data? {
        let statement = try connection.statement(access.selectText(column))
        defer { statement.reset() }
        try statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        let bytes = statement.data(at: 0)
        return ExternalData.fileName(in: bytes) == nil ? nil : bytes
    }

    /// Records the files that a change of rows makes superfluous.
    ///
    /// - Parameters:
    ///   - access: the entity and its tables.
    ///   - slots: the changed properties with external storage.
    ///   - condition: the condition on the rows of the entity's table `t`.
    ///   - files: records the files.
    /// - Throws: SQLite's errors.
    func noteFiles(
        of access: EntityAccess, _ slots: [Int], where condition: SQLFragment, _ files: ExternalFiles
    ) throws {
        let kept = columns(of: access.writer.externalSlots.filter { !slots.contains($0) }, access)
        for column in columns(of: slots, access) {
            let statement = try connection.prepare(
                ExternalFileSQL.references(column, in: access.mapping.table, butNotIn: kept, where: condition))
            while try statement.step() { try files.replaced(statement.data(at: 0)) }
        }
    }
}
