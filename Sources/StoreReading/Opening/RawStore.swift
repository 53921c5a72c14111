import CoreData
import SQLiteConnection

/// An SQLite store without a model: its objects as in its tables, under the names found there. A store in another file
/// says enough for a model: see `DocumentModel`.
package struct RawStore {
    package struct Entity {
        package let name: String
        /// Its superentity; nil if the file does not name it.
        package let parent: String?
        package let count: Int
        /// The names of the columns.
        package let columns: [String]
    }

    package let original: URL
    package let facts: FileFacts
    /// Why there is no model, as a sentence without its final period.
    package let reason: String
    package let entities: [Entity]
    /// The rows that are of no entity, in words.
    package let strangeRows: [String]
    private let contents: RawTables
    private let copy: PrivateCopy

    /// Opens a store.
    ///
    /// - Throws: an error that names the file and its defect.
    package init(at path: String, reason: String) throws {
        original = URL(store: path)
        copy = try PrivateCopy(of: original)
        facts = try FileFacts(copy: copy.url, original: original)
        self.reason = reason
        if let missing = SQLiteHeader(of: original)?.missingBytes {
            throw CommandError(
                "“\(original.path)” is cut off: \(missing) bytes are missing at its end, and \(reason)")
        }
        contents = try RawTables(copy.url, original: original, uuid: facts.uuid)
        entities = try contents.entities()
        strangeRows = try contents.strangeRows()
    }

    /// The entities to show: all, or the named one.
    ///
    /// - Throws: `CommandError` naming the existing entities.
    package func entities(named name: String?) throws -> [Entity] {
        guard let name else { return entities }
        let found = entities.filter { $0.name == name }
        guard !found.isEmpty else {
            throw CommandError(
                "“\(original.path)” has no entity “\(name)”; it has \(entities.map(\.name).joined(separator: ", "))")
        }
        return found
    }

    /// Calls a function with each object of an entity, by primary key.
    package func forEachObject(of entity: Entity, _ body: (ObjectRecord) throws -> Void) throws {
        try contents.forEachObject(of: entity, body)
    }
}
