import CoreData
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// The values of an SQLite store that are read as something else than what the file has: those of another kind than
/// their property, such as a text in a column of numbers, which is read as 0, and those beyond its type. Reads each
/// table once or twice.
extension ValueCheck {
    /// What a copy has otherwise than its source.
    ///
    /// - Parameters:
    ///   - store: the store, open; one of another type has no such values.
    ///   - coordinator: its coordinator.
    /// - Returns: a sentence for each property, without its final period.
    /// - Throws: `CommandError` for rows that no copy can have, and an error for a file that cannot be read.
    package static func differencesOfCopy(
        of store: NSPersistentStore, _ coordinator: NSPersistentStoreCoordinator
    ) throws -> [String] {
        guard store.type == NSSQLiteStoreType, let url = store.url else { return [] }
        let layout = coordinator.modelLayout
        let roots = layout.entities.filter { $0.superentity == nil }
        let strangers = try StrangeRows.texts(of: roots, in: layout, coordinator.managedObjectModel, url)
        guard strangers.isEmpty else {
            throw CommandError("\(strangers.joined(separator: "; ")). A copy cannot have them, and was not made")
        }
        let check = try ValueCheck(layout, coordinator.managedObjectModel, url)
        return try check.misread(among: layout.entities).map { "\($0); the copy has what they are read as" }
            + layout.entities.flatMap { entity -> [String] in
                guard let mapping = check.schema.mapping(of: entity) else { return [] }
                return try check.strangePairs(from: mapping).map { "\($0.text); the copy does not have them" }
            }
    }

    /// What is shown of a store otherwise than the file has it.
    ///
    /// - Parameters:
    ///   - layout: the model's layout.
    ///   - model: the model.
    ///   - url: the store's file.
    ///   - entity: the entity that is shown with its subentities; nil for all of the model.
    /// - Returns: a sentence for each property, without its final period.
    /// - Throws: an error for a file that cannot be read.
    static func shownOtherwise(
        in layout: ModelLayout, _ model: NSManagedObjectModel, _ url: URL, of entity: EntityLayout?
    ) throws -> [String] {
        var entities = layout.entities
        if let entity {
            entities = entity.selfAndSubentities
            // Inherited properties are checked with the entities that declare them.
            var ancestor = entity.superentity
            while let next = ancestor {
                entities.insert(next, at: 0)
                ancestor = next.superentity
            }
        }
        return try ValueCheck(layout, model, url).misread(among: entities).map(MisreadRows.ofOutput)
    }

    private init(_ layout: ModelLayout, _ model: NSManagedObjectModel, _ url: URL) throws {
        self.init(try ReadingConnection.schema(of: layout, model, url), try ReadingConnection.open(url))
    }

    private func misread(among entities: [EntityLayout]) throws -> [String] {
        try entities.flatMap { entity -> [String] in
            // The rest of a store whose tables are damaged is shown all the same.
            guard let mapping = schema.mapping(of: entity) else { return [] }
            return try misread(in: mapping).map(\.text)
        }
    }
}
