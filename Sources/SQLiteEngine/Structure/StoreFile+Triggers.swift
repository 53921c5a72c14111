import CoreDataModel
import SQLGeneration
import SQLiteConnection

extension StoreFile {
    /// Makes the triggers of derived attributes that are missing, as after a tool has made a table anew. The values
    /// stay as they are.
    ///
    /// A file that cannot be written stays as it is.
    ///
    /// - Parameters:
    ///   - schema: the tables.
    ///   - isOwn: whether the store is of Pippin's making.
    /// - Returns: SQLite's number of the structure afterwards; nil if nothing is missing.
    /// - Throws: SQLite's errors.
    func makeMissingTriggers(of schema: SQLSchema, isOwn: Bool) throws -> Int64? {
        guard schema.layout.entities.contains(where: { !$0.derivedSlots.isEmpty }) else { return nil }
        let attributes = schema.derivedAttributes { _ in }
        func missing() throws -> [TriggerDefinition] {
            let found = try connection.derivedTriggers()
            return attributes.flatMap { $0.differences(from: found, isOwn: isOwn).missing }
        }
        guard try !missing().isEmpty else { return nil }
        do {
            return try connection.transaction(.immediate) {
                // Another program may have made them meanwhile.
                for trigger in try missing() { try connection.execute(trigger.creation) }
                return try connection.integer("PRAGMA schema_version")
            }
        } catch let error as SQLiteError where error.isReadOnly { return nil }
    }
}
