import CoreData
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// The rows that have the number of no entity of their table. In a table with several entities they are no objects, and
/// are left out of whatever is shown.
enum StrangeRows {
    /// What is left out of a table, as a sentence without its final period; nil for nothing.
    ///
    /// - Throws: SQLite's errors.
    static func text(of mapping: EntityMapping, _ connection: Connection) throws -> String? {
        guard mapping.sharesTable, let (count, keys) = try rows(of: mapping, connection) else { return nil }
        return
            "\(TextTools.count(count, "row")) of \(mapping.table) \(count == 1 ? "is" : "are") of an entity that the "
            + "model does not have: Z_PK \(keys)"
    }

    /// The rows of a table with one entity that have another number, as a sentence without its final period; nil for
    /// none. They are that entity's objects all the same, but a migration refuses them.
    ///
    /// - Throws: SQLite's errors.
    static func misnumbered(in mapping: EntityMapping, _ connection: Connection) throws -> String? {
        guard !mapping.sharesTable, let (count, keys) = try rows(of: mapping, connection) else { return nil }
        let subject = "\(TextTools.count(count, "row")) of \(mapping.table) \(count == 1 ? "has" : "have")"
        let own = "\(mapping.number), the number of “\(mapping.layout.name)”"
        return "\(subject) another value in Z_ENT than \(own): Z_PK \(keys)"
    }

    /// The number of the rows that have the number of no entity of their table, and the keys of the first of them, each
    /// with what it has for a number where that is not one.
    private static func rows(
        of mapping: EntityMapping, _ connection: Connection
    ) throws -> (count: Int, keys: String)? {
        let statement = try connection.prepare(StoreCheckSQL.strangers(in: mapping))
        var (count, named) = (0, [String]())
        while try statement.step() {
            count += 1
            guard count <= TextTools.mostNamed else { continue }
            let key = "\(statement.integer(at: 0))"
            let isNumber = ["integer", "null"].contains(statement.string(at: 1))
            named.append(
                isNumber
                    ? key : "\(key) (the \(statement.string(at: 1)) “\(TextTools.inOneLine(statement.string(at: 2)))”)")
        }
        guard count > 0 else { return nil }
        return (count, named.joined(separator: ", ") + (count > named.count ? ", …" : ""))
    }

    /// What is left out of the tables of some root entities.
    ///
    /// - Throws: an error for a file that cannot be read.
    static func texts(
        of roots: [EntityLayout], in layout: ModelLayout, _ model: NSManagedObjectModel, _ url: URL
    ) throws -> [String] {
        let connection = try ReadingConnection.open(url)
        let schema = try ReadingConnection.schema(of: layout, model, url)
        return try roots.compactMap { try schema.mapping(of: $0).flatMap { try text(of: $0, connection) } }
    }
}
