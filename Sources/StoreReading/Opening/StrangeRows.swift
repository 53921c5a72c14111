import CoreData
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// The rows of tables with several entities that are of none of them. They are no objects, and are left out of whatever
/// is shown.
enum StrangeRows {
    /// What is left out of a table, as a sentence without its final period; nil for nothing.
    ///
    /// - Throws: SQLite's errors.
    static func text(of mapping: EntityMapping, _ connection: Connection) throws -> String? {
        guard mapping.sharesTable else { return nil }
        let statement = try connection.prepare(StoreCheckSQL.strangers(in: mapping))
        var (count, named) = (0, [Int64]())
        while try statement.step() {
            count += 1
            if count <= TextTools.mostNamed { named.append(statement.integer(at: 0)) }
        }
        guard count > 0 else { return nil }
        let keys = named.map(String.init).joined(separator: ", ") + (count > named.count ? ", …" : "")
        return
            "\(TextTools.count(count, "row")) of \(mapping.table) \(count == 1 ? "is" : "are") of an entity that the "
            + "model does not have: Z_PK \(keys)"
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
