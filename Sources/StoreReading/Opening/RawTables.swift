import CoreData
import ModelFiles
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// The tables of an SQLite store, read without a model: the entities that `Z_PRIMARYKEY` numbers, each with the table
/// that has its rows, and the join tables. Pure.
struct RawTables {
    struct Entity {
        let name: String
        let number: Int
        /// Its superentity; nil for none, and above too many levels.
        let parent: String?
        let table: Table
        /// Whether the table also has rows of other entities, which the numbers of the rows tell apart. All rows of a
        /// table of its own are the entity's, also those with another number.
        let sharesTable: Bool
    }

    struct Table {
        let name: String
        let columns: [TableDefinition.Column]
    }

    /// The entities whose tables are there, by name.
    let entities: [Entity]
    let joinTables: [Table]

    /// Reads the tables of a file.
    ///
    /// - Throws: SQLite's errors.
    init(_ file: RawStoreFile) throws { self.init(try file.entities(), try file.columnsByTable()) }

    init(_ numbered: [RawStoreFile.Entity], _ columnsByTable: [String: [TableDefinition.Column]]) {
        let tables = columnsByTable.sorted { $0.key < $1.key }.map { Table(name: $0.key, columns: $0.value) }
        // Core Data writes the names of tables in capitals.
        let byName = Dictionary(tables.map { ($0.name.uppercased(), $0) }, uniquingKeysWith: { first, _ in first })
        let byNumber = Dictionary(numbered.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        let ancestors = numbered.map { Self.ancestors(of: $0, in: byNumber) }
        let tableNames = zip(numbered, ancestors).map { "Z" + ($1.last ?? $0).name.uppercased() }
        let sharers = Dictionary(tableNames.map { ($0, 1) }, uniquingKeysWith: +)
        var entities: [Entity] = []
        var names: Set<String> = []
        for (position, entity) in numbered.enumerated() {
            let tableName = tableNames[position]
            guard let table = byName[tableName], names.insert(entity.name).inserted else { continue }
            let isNumbered = table.columns.contains { $0.name == Self.entityColumn }
            entities.append(
                Entity(
                    name: entity.name, number: entity.number, parent: ancestors[position].first?.name, table: table,
                    sharesTable: isNumbered && sharers[tableName, default: 1] > 1))
        }
        if numbered.isEmpty {
            // The numbers are lost. The entities have the names of their tables; subentities are not known.
            entities = tables.filter { Self.isEntityTable($0) }.map { table in
                Entity(
                    name: String(table.name.dropFirst()), number: 0, parent: nil, table: table, sharesTable: false)
            }
        }
        self.entities = entities
        joinTables = tables.filter { Self.isJoinTable($0.name) && !names.contains($0.name) }
    }

    /// The superentities of an entity, the nearest first. None where they are more than a model may have, or endless in
    /// a damaged store: such an entity is shown without its inheritance.
    private static func ancestors(
        of entity: RawStoreFile.Entity, in entities: [Int: RawStoreFile.Entity]
    ) -> [RawStoreFile.Entity] {
        var ancestors: [RawStoreFile.Entity] = []
        while let parent = entities[(ancestors.last ?? entity).parent] {
            ancestors.append(parent)
            if ancestors.count >= DocumentCheck.maximumInheritance { return [] }
        }
        return ancestors
    }

    /// Reads a store, and names it in SQLite's errors.
    static func reading<Result>(_ store: URL, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw explained(error, store) }
    }

    /// An error that names the store, for one of SQLite.
    static func explained(_ error: any Error, _ store: URL) -> any Error {
        guard let error = error as? SQLiteError else { return error }
        let damage = error.isCorrupt ? " is damaged or cut off" : " cannot be read"
        return CommandError("“\(store.path)”\(damage): \(error.message)")
    }

    private static func isEntityTable(_ table: Table) -> Bool {
        table.name.hasPrefix("Z") && table.name.dropFirst().first != "_" && table.columns.contains { $0.name == "Z_PK" }
    }

    /// `Z_14PEOPLE`: a number after the underscore.
    static func isJoinTable(_ name: String) -> Bool {
        name.hasPrefix("Z_") && name.dropFirst(2).first?.isASCII == true && name.dropFirst(2).first?.isNumber == true
    }

    private static let entityColumn = "Z_ENT"

    /// Whether a column is one that every row of an entity has.
    static func isBookkeeping(_ column: String) -> Bool { ["Z_PK", entityColumn, "Z_OPT"].contains(column) }
}
