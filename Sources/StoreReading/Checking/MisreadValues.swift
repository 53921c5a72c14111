import CoreData
import SQLGeneration
import SQLiteConnection
import SQLiteEngine
import StoreEngine

extension OpenedStore {
    /// The values that are read as something else than what the file has, as sentences without their final periods.
    ///
    /// - Parameter entity: the entity that is shown with its subentities; nil for all.
    /// - Returns: a sentence for each property that has such values.
    /// - Throws: an error for a file that cannot be read.
    package func misreadValues(of entity: EntityLayout?) throws -> [String] {
        guard facts.kind == .sqlite else { return [] }
        return try ValueCheck.shownOtherwise(in: layout, coordinator.managedObjectModel, copy.url, of: entity)
    }
}

/// The values that are read as something else than what the file has, among the rows that are shown: what nobody sees
/// is not looked at, so that three rows of a large table take no longer than three of a small one.
struct MisreadRows {
    private let mapping: EntityMapping
    private let connection: Connection
    private var found: [MisreadColumn]

    /// Nil for a store that is no SQLite file, which has no such values, and for an entity without a table.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - entity: the entity whose properties are shown.
    ///   - slots: the numbers of these properties.
    /// - Throws: an error for a file that cannot be read.
    init?(_ store: DirectStore, _ entity: EntityLayout, slots: [Int]) throws {
        guard let file = store.file, store.pagesByKey else { return nil }
        connection = try ReadingConnection.open(file)
        let schema = try ReadingConnection.schema(of: store, file)
        guard let mapping = schema.mapping(of: entity) else { return nil }
        self.mapping = mapping
        found = MisreadColumn.all(of: mapping, slots: slots)
    }

    /// Looks at rows that are shown.
    ///
    /// - Throws: SQLite's errors.
    mutating func follow(_ rows: some Sequence<Row>) throws {
        let keys = rows.map(\.objectID.key)
        do { try MisreadColumn.look(for: &found, in: mapping, among: keys, connection) } catch let error as SQLiteError
            where error.isBeyondLimit
        {
            // What is too large to be looked at is not shown, either.
            for key in keys { try? MisreadColumn.look(for: &found, in: mapping, among: [key], connection) }
        }
    }

    /// A sentence for each property with such values, without its final period.
    var texts: [String] { found.compactMap(\.text).map(Self.ofOutput) }

    static func ofOutput(_ text: String) -> String { "\(text); the output has what they are read as" }
}
