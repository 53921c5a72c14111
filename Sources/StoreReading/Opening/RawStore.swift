import CoreData
import Foundation
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// An SQLite store without a model: its objects as in its tables, under the names found there. A store in another file
/// says enough for a model: see `DocumentModel`.
package struct RawStore {
    /// An entity, or a join table.
    package struct Entity {
        package let name: String
        /// Its superentity; nil if the file does not name it.
        package let parent: String?
        package let count: Int
        /// The names of the columns.
        package let columns: [String]
        fileprivate let table: RawTables.Table
        /// The entity's number, if its table also has rows of others.
        fileprivate let number: Int?
    }

    package let original: URL
    package let facts: FileFacts
    /// Why there is no model, as a sentence without its final period.
    package let reason: String
    package let entities: [Entity]
    /// The rows that are of no entity, in words.
    package let strangeRows: [String]
    private let file: RawStoreFile
    private let copy: PrivateCopy

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - reason: why there is no model, as a sentence without its final period.
    ///   - commit: the commit of its log as of which it is read: see `PrivateCopy`.
    /// - Throws: an error that names the file and its defect.
    package init(at path: String, reason: String, commit: Int? = nil) throws {
        do {
            do { self = try RawStore(at: path, reason: reason, commit: commit, isDamaged: false) } catch let error
                as SQLiteError
                where error.isCorrupt
            {
                self = try RawStore(at: path, reason: reason, commit: commit, isDamaged: true)
            }
        } catch { throw RawTables.explained(error, URL(store: path)) }
    }

    /// Opens a store; if damage was found in its pages, what can be read of it.
    private init(at path: String, reason: String, commit: Int?, isDamaged: Bool) throws {
        let original = URL(store: path)
        let copy = try PrivateCopy(of: original, commit: commit)
        (self.original, self.copy) = (original, copy)
        facts = try FileFacts(salvaging: copy, original: original, isDamaged: isDamaged)
        self.reason = reason
        if let missing = SQLiteHeader(of: original)?.missingBytes {
            throw CommandError(
                "“\(original.path)” is cut off: \(missing) bytes are missing at its end, and \(reason)")
        }
        file = try RawStoreFile(copy.url, mode: .readOnly)
        entities = try Self.entities(of: RawTables(file), in: file)
        strangeRows = try Self.strangeRows(besides: entities, in: file)
    }

    private static func entities(of tables: RawTables, in file: RawStoreFile) throws -> [Entity] {
        func entity(_ name: String, _ parent: String?, _ table: RawTables.Table, _ number: Int?) throws -> Entity {
            Entity(
                name: name, parent: parent, count: try file.count(in: table.name, ofEntity: number),
                columns: table.columns.map(\.name).filter { !RawTables.isBookkeeping($0) }, table: table,
                number: number)
        }
        return try tables.entities.map { try entity($0.name, $0.parent, $0.table, $0.sharesTable ? $0.number : nil) }
            + tables.joinTables.map { try entity($0.name, nil, $0, nil) }
    }

    /// The rows of each table that are of none of its entities, in words.
    private static func strangeRows(besides entities: [Entity], in file: RawStoreFile) throws -> [String] {
        let shared = Dictionary(grouping: entities.filter { $0.number != nil }, by: \.table.name)
        return try shared.sorted { $0.key < $1.key }.compactMap { table, entities in
            let rest = try file.count(in: table, ofEntity: nil) - entities.reduce(0) { $0 + $1.count }
            guard rest > 0 else { return nil }
            return "\(TextTools.count(rest, "row")) of \(table) \(rest == 1 ? "is" : "are") of an entity that "
                + "Z_PRIMARYKEY does not have"
        }
    }

    /// What cannot be read of a damaged store, as a sentence without its final period; nil for an intact one.
    package var damage: String? { copy.damage }

    /// The entities to show: all, or the named one.
    ///
    /// - Throws: `CommandError` naming the existing entities.
    package func entities(named name: String?) throws -> [Entity] {
        guard let name else { return entities }
        let found = entities.filter { $0.name == name }
        guard !found.isEmpty else {
            throw CommandError(
                "“\(original.path)” has no entity “\(name)”; \(TextProblem.hint(for: name, among: entities.map(\.name)))"
            )
        }
        return found
    }

    /// Calls a function with each object of an entity, by primary key.
    package func forEachObject(of entity: Entity, _ body: (ObjectRecord) throws -> Void) throws {
        try RawTables.reading(original) {
            let columns = entity.table.columns.map(\.name)
            let key = columns.firstIndex(of: "Z_PK")
            let shown = columns.indices.filter { !RawTables.isBookkeeping(columns[$0]) }
            var row: Int64 = 0
            try file.forEachRow(in: entity.table.name, ofEntity: entity.number) { values in
                row += 1
                let primaryKey = key.flatMap { values[$0].integer } ?? row
                try body(
                    ObjectRecord(
                        entityName: entity.name, key: primaryKey,
                        uri: "x-coredata://\(facts.uuid)/\(entity.name)/p\(primaryKey)",
                        fields: shown.map { .init(name: columns[$0], value: FieldValue(values[$0])) }))
            }
        }
    }
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

/// The size of a database according to the first 100 bytes, as SQLite documents them.
package struct SQLiteHeader {
    /// How many bytes the file lacks; nil if it is complete, or its header does not say.
    package let missingBytes: Int?

    /// - Returns: `nil` if the file cannot be read, or the process has it open: closing it once more would release
    ///   SQLite's locks.
    package init?(of url: URL) {
        guard LogFiles.kind(of: url) == nil, let file = FileHandle(forReadingAtPath: url.path) else { return nil }
        defer { try? file.close() }
        guard let header = try? file.read(upToCount: 100), let size = try? file.seekToEnd() else { return nil }
        missingBytes = Self.missingBytes([UInt8](header), fileSize: Int(clamping: size))
    }

    /// - Parameters:
    ///   - header: the bytes.
    ///   - fileSize: how long the file is.
    /// - Returns: the number of missing bytes; nil if none is missing.
    package static func missingBytes(_ header: [UInt8], fileSize: Int) -> Int? {
        guard header.count == 100 else { return nil }
        func number(_ place: Int) -> Int { header[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        // The number of pages is valid if the change counter is the one with which it was written.
        guard number(24) == number(92) else { return nil }
        let written = Int(header[16]) << 8 | Int(header[17])
        let pageSize = written == 1 ? 65536 : written
        let missing = number(28) * pageSize - fileSize
        return missing > 0 ? missing : nil
    }
}
