import CoreData
import SQLGeneration
import SQLiteEngine

/// What is wrong in the tables in which a store says what it is: its UUID, and its entities with their numbers.
enum BookkeepingCheck {
    /// - Parameters:
    ///   - layout: the store's own model.
    ///   - schema: its tables.
    ///   - url: the file.
    /// - Returns: the defects.
    /// - Throws: SQLite's errors.
    static func problems(of layout: ModelLayout, _ schema: SQLSchema, _ url: URL) throws -> [StoreCheck.Problem] {
        let file = try RawStoreFile.forReading(url)
        var problems: [StoreCheck.Problem] = []
        if let uuid = try file.metadata()?.uuid, UUID(uuidString: uuid) == nil {
            let text = "the UUID of the store (Z_METADATA.Z_UUID) is “\(TextTools.inOneLine(uuid))”, and no valid UUID"
            problems.append(StoreCheck.Problem(kind: .file, text: text))
        }
        let rows = try file.entities()
        let numbers = Set(rows.map(\.number))
        let names = Dictionary(rows.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
        let parents = Dictionary(rows.map { ($0.number, $0.parent) }, uniquingKeysWith: { first, _ in first })
        for entity in layout.entities {
            // An entity of another configuration has no table here, and needs no number.
            guard let mapping = schema.mapping(of: entity), file.tables.contains(mapping.table) else { continue }
            guard numbers.contains(mapping.number), let parent = parents[mapping.number] else {
                let text =
                    "Z_PRIMARYKEY has no row for “\(entity.name)”, so that no object of it can be saved"
                problems.append(StoreCheck.Problem(kind: .entity, text: text))
                continue
            }
            let expected = entity.superentity.flatMap { schema.mapping(of: $0)?.number } ?? 0
            guard parent != expected else { continue }
            let found = names[parent].map { "“\($0)”" } ?? (parent == 0 ? "none" : "no entity’s number, \(parent)")
            let text =
                "the superentity of “\(entity.name)” (Z_PRIMARYKEY.Z_SUPER) is \(found), and in the model it is "
                + (entity.superentity.map { "“\($0.name)”" } ?? "none")
            problems.append(StoreCheck.Problem(kind: .entity, text: text))
        }
        return problems
    }
}
