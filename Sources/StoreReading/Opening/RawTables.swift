import CoreData
import ModelFiles
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// The rows of an SQLite store by the entities that `Z_PRIMARYKEY` numbers, and its join tables.
struct RawTables {
    private let file: RawStoreFile
    private let original: URL
    private let uuid: String
    private let sources: [String: Source]
    private let names: [String]

    /// The rows of an entity, or of a join table.
    private struct Source {
        let table: String
        let columns: [String]
        /// The entity's number, if its table also has rows of others.
        let number: Int?
        let parent: String?
    }

    init(_ copy: URL, original: URL, uuid: String) throws {
        self.original = original
        self.uuid = uuid
        do {
            let file = try RawStoreFile(copy, mode: .readOnly)
            self.file = file
            let tables = file.tables
            // Core Data writes the names of tables in capitals.
            let byName = Dictionary(tables.map { ($0.uppercased(), $0) }, uniquingKeysWith: { first, _ in first })
            var sources: [String: Source] = [:]
            var names: [String] = []
            let numbered = try file.entities()
            let byNumber = Dictionary(numbered.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
            let tableNames = numbered.map { "Z" + Self.root(of: $0, in: byNumber).name.uppercased() }
            let sharers = Dictionary(tableNames.map { ($0, 1) }, uniquingKeysWith: +)
            for (entity, tableName) in zip(numbered, tableNames) {
                guard sources[entity.name] == nil, let table = byName[tableName] else { continue }
                let columns = try file.columns(of: table)
                // All rows of a table of its own are the entity's, also those with another number.
                let isShared = sharers[tableName, default: 1] > 1 && columns.contains("Z_ENT")
                let parent = byNumber[entity.parent]?.name
                sources[entity.name] = Source(
                    table: table, columns: columns, number: isShared ? entity.number : nil, parent: parent)
                names.append(entity.name)
            }
            for table in tables.sorted() where Self.isJoinTable(table) && sources[table] == nil {
                sources[table] = Source(
                    table: table, columns: try file.columns(of: table), number: nil, parent: nil)
                names.append(table)
            }
            self.sources = sources
            self.names = names
        } catch let error as SQLiteError {
            throw Self.unreadable(original, error)
        }
    }

    /// The entity whose table has an entity's rows; the entity itself over more levels than a model may have.
    private static func root(
        of entity: RawStoreFile.Entity, in entities: [Int: RawStoreFile.Entity]
    ) -> RawStoreFile.Entity {
        var (root, seen) = (entity, Set([entity.number]))
        while let parent = entities[root.parent], seen.insert(parent.number).inserted {
            if seen.count > DocumentCheck.maximumInheritance { return entity }
            root = parent
        }
        return root
    }

    /// `Z_14PEOPLE`: a number after the underscore.
    static func isJoinTable(_ name: String) -> Bool {
        name.hasPrefix("Z_") && name.dropFirst(2).first?.isASCII == true && name.dropFirst(2).first?.isNumber == true
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
                let count = try file.count(in: source.table, ofEntity: source.number)
                return RawStore.Entity(
                    name: name, parent: source.parent, count: count,
                    columns: source.columns.filter { !Self.isBookkeeping($0) })
            }
        }
    }

    func forEachObject(of entity: RawStore.Entity, _ body: (ObjectRecord) throws -> Void) throws {
        guard let source = sources[entity.name] else { return }
        try reading {
            let key = source.columns.firstIndex(of: "Z_PK")
            var row: Int64 = 0
            try file.forEachRow(in: source.table, ofEntity: source.number) { values in
                row += 1
                let primaryKey = key.flatMap { values[$0].integer } ?? row
                let fields = source.columns.indices.filter { !Self.isBookkeeping(source.columns[$0]) }.map {
                    ObjectRecord.Field(name: source.columns[$0], value: FieldValue(values[$0]))
                }
                try body(
                    ObjectRecord(
                        entityName: entity.name, key: primaryKey,
                        uri: "x-coredata://\(uuid)/\(entity.name)/p\(primaryKey)", fields: fields))
            }
        }
    }

    /// The rows of each table that are of none of its entities, in words.
    func strangeRows() throws -> [String] {
        try reading {
            let shared = Dictionary(grouping: sources.values.filter { $0.number != nil }, by: \.table)
            return try shared.sorted { $0.key < $1.key }.compactMap { table, sources in
                let known = try sources.reduce(0) { $0 + (try file.count(in: table, ofEntity: $1.number)) }
                let rest = try file.count(in: table, ofEntity: nil) - known
                guard rest > 0 else { return nil }
                return "\(TextTools.count(rest, "row")) of \(table) \(rest == 1 ? "is" : "are") of an entity that "
                    + "Z_PRIMARYKEY does not have"
            }
        }
    }

    private static func isBookkeeping(_ column: String) -> Bool { ["Z_PK", "Z_ENT", "Z_OPT"].contains(column) }
}

extension FieldValue {
    fileprivate init(_ value: SQLValue) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .text(let text): self = .string(text)
        case .blob(let data): self = .data(data)
        }
    }
}

extension SQLValue {
    fileprivate var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
}
