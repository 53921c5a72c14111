import SQLiteEngine
import CoreData
import SQLiteConnection

/// The rows of an SQLite store by the entities that `Z_PRIMARYKEY` numbers, and its join tables.
struct RawTables: RawContents {
    private let connection: Connection
    private let original: URL
    private let uuid: String
    private let sources: [String: Source]
    private let names: [String]

    /// The rows of an entity, or of a join table.
    private struct Source {
        let table: String
        let columns: [String]
        /// The entity's number, where its table has those of others, too.
        let number: Int64?
        let parent: String?
    }

    init(_ copy: URL, original: URL, uuid: String) throws {
        self.original = original
        self.uuid = uuid
        do {
            connection = try Connection(path: copy.path, mode: .readOnly)
            let tables = try connection.tableNames()
            // Core Data writes the names of tables in capitals.
            let byName = Dictionary(tables.map { ($0.uppercased(), $0) }, uniquingKeysWith: { first, _ in first })
            var sources: [String: Source] = [:]
            var names: [String] = []
            let numbered = try Self.numberedEntities(connection)
            for entity in numbered {
                guard sources[entity.name] == nil,
                    let table = byName["Z" + Self.root(of: entity, in: numbered).name.uppercased()]
                else { continue }
                let columns = try Self.columns(of: table, connection)
                let parent = numbered.first { $0.number == entity.parent }?.name
                sources[entity.name] = Source(
                    table: table, columns: columns, number: columns.contains("Z_ENT") ? entity.number : nil,
                    parent: parent)
                names.append(entity.name)
            }
            for table in tables.sorted() where Self.isJoinTable(table) && sources[table] == nil {
                sources[table] = Source(
                    table: table, columns: try Self.columns(of: table, connection), number: nil, parent: nil)
                names.append(table)
            }
            self.sources = sources
            self.names = names
        } catch let error as SQLiteError {
            throw Self.unreadable(original, error)
        }
    }

    private struct NumberedEntity {
        let number: Int64
        let name: String
        let parent: Int64
    }

    private static func numberedEntities(_ connection: Connection) throws -> [NumberedEntity] {
        var found: [NumberedEntity] = []
        let statement = try connection.prepare(
            "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_NAME NOT NULL AND Z_ENT < 16000 ORDER BY Z_NAME")
        while try statement.step() {
            found.append(
                NumberedEntity(
                    number: statement.integer(at: 0), name: statement.string(at: 1), parent: statement.integer(at: 2)))
        }
        return found
    }

    private static func root(of entity: NumberedEntity, in entities: [NumberedEntity]) -> NumberedEntity {
        var (root, seen) = (entity, Set([entity.number]))
        while let parent = entities.first(where: { $0.number == root.parent }), seen.insert(parent.number).inserted {
            root = parent
        }
        return root
    }

    /// `Z_14PEOPLE`: a number after the underscore.
    private static func isJoinTable(_ name: String) -> Bool {
        name.hasPrefix("Z_") && name.dropFirst(2).first?.isASCII == true && name.dropFirst(2).first?.isNumber == true
    }

    private static func columns(of table: String, _ connection: Connection) throws -> [String] {
        var columns: [String] = []
        let statement = try connection.prepare("SELECT name FROM pragma_table_info(?)")
        try statement.bind(table, at: 1)
        while try statement.step() { columns.append(statement.string(at: 0)) }
        return columns
    }

    private static func unreadable(_ original: URL, _ error: SQLiteError) -> CommandError {
        CommandError(
            "“\(original.path)”\(error.isCorrupt ? " is damaged or cut off" : " cannot be read"): \(error.message)")
    }

    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as SQLiteError { throw Self.unreadable(original, error) }
    }

    func entities() throws -> [RawStore.Entity] {
        try reading {
            try names.compactMap { name in
                guard let source = sources[name] else { return nil }
                let count = try connection.integer("SELECT count(*) FROM \(quoted(source.table))\(condition(source))")
                return RawStore.Entity(
                    name: name, parent: source.parent, count: Int(count ?? 0),
                    columns: source.columns.filter { !Self.isBookkeeping($0) })
            }
        }
    }

    func forEachObject(of entity: RawStore.Entity, _ body: (ObjectRecord) throws -> Void) throws {
        guard let source = sources[entity.name] else { return }
        try reading {
            let order = source.columns.contains("Z_PK") ? " ORDER BY Z_PK" : ""
            let statement = try connection.prepare(
                "SELECT * FROM \(quoted(source.table))\(condition(source))\(order)")
            let key = source.columns.firstIndex(of: "Z_PK")
            var row: Int64 = 0
            while try statement.step() {
                row += 1
                let primaryKey = key.map { statement.integer(at: Int32($0)) } ?? row
                let fields = source.columns.indices.filter { !Self.isBookkeeping(source.columns[$0]) }.map {
                    ObjectRecord.Field(name: source.columns[$0], value: Self.value(statement, Int32($0)))
                }
                try body(
                    ObjectRecord(
                        entityName: entity.name, key: primaryKey,
                        uri: "x-coredata://\(uuid)/\(entity.name)/p\(primaryKey)", fields: fields))
            }
        }
    }

    private func condition(_ source: Source) -> String { source.number.map { " WHERE Z_ENT = \($0)" } ?? "" }

    private static func isBookkeeping(_ column: String) -> Bool { ["Z_PK", "Z_ENT", "Z_OPT"].contains(column) }

    private static func value(_ statement: Statement, _ column: Int32) -> FieldValue {
        switch statement.kind(at: column) {
        case .null: .null
        case .integer: .integer(statement.integer(at: column))
        case .double: .double(statement.double(at: column))
        case .text: .string(statement.string(at: column))
        case .blob: .data(statement.data(at: column))
        }
    }
}
