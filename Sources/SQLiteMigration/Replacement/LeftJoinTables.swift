import CompactCollections
import CoreDataModel
import MigrationPlans
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// The join tables that a store has beside the tables of a version which it is supposed to be of.
struct LeftJoinTables {
    private let file: StoreFile
    private let model: NSManagedObjectModel
    /// The entities of the version whose keys each table has.
    private let ends: [(table: String, entities: Set<String>)]

    /// - Parameters:
    ///   - tables: the names of the tables.
    ///   - file: the store.
    ///   - model: the version.
    /// - Throws: SQLite's errors.
    init(_ tables: [String], of file: StoreFile, supposing model: NSManagedObjectModel) throws {
        (self.file, self.model) = (file, model)
        let catalog = try file.catalog()
        let names = Dictionary(catalog.numbers(for: model).map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        ends = tables.compactMap { table in
            // `Z_1TAGS` has the columns `Z_1BOOKS` and `Z_2TAGS`, and perhaps others for the order of pairs. The table
            // of an entity with itself has `Z_1FRIENDS` and `REFLEXIVE`.
            let numbers = ([table] + (catalog.tables[table] ?? []).map(\.name)).compactMap(Self.number)
            let entities = Set(numbers).map { names[$0] }
            // Pairs of an entity that the store does not have belong to no relationship.
            guard !entities.contains(nil) else { return nil }
            return (table, Set(entities.compactMap { $0 }))
        }
    }

    /// The number in a name like `Z_2TAGS`.
    private static func number(in name: String) -> Int? {
        name.hasPrefix("Z_") ? Int(name.dropFirst(2).prefix { $0.isASCII && $0.isNumber }) : nil
    }

    /// The tables with pairs that may be those of a relationship which a later version has, and this one does not.
    func claimed(by destination: NSManagedObjectModel) throws -> [String] {
        let names = ModelCorrespondence(from: model, to: destination)
        let added = destination.entities.flatMap { entity in
            entity.ownProperties.compactMap { $0 as? NSRelationshipDescription }.filter { relationship in
                relationship.isToMany && relationship.inverseRelationship?.isToMany ?? false
                    && !entity.selfAndDescendants.contains {
                        names.properties[$0.name ?? ""]?[relationship.name] != nil
                    }
            }
        }
        return try ends.filter { _, entities in
            let successors = entities.map { names.successors[$0].flatMap { destination.entitiesByName[$0] } }
            return added.contains { Self.leads($0, between: successors) }
        }.map(\.table).filter(hasPairs)
    }

    /// Whether a relationship may be one between entities: some of its objects are of each, and both ends are theirs.
    private static func leads(
        _ relationship: NSRelationshipDescription, between entities: [NSEntityDescription?]
    ) -> Bool {
        guard let other = relationship.destinationEntity else { return false }
        func isRelated(_ one: NSEntityDescription, _ other: NSEntityDescription) -> Bool {
            one.isKindOf(entity: other) || other.isKindOf(entity: one)
        }
        let ends = [relationship.entity, other]
        let known = entities.compactMap { $0 }
        return known.count == entities.count
            && known.allSatisfy { entity in ends.contains { isRelated($0, entity) } }
            && ends.allSatisfy { end in known.contains { isRelated($0, end) } }
    }

    private func hasPairs(_ table: String) throws -> Bool {
        try file.run("read the tables of") {
            try file.connection.integer(CheckSQL.rows(of: table).sqlite.text) != nil
        }
    }
}
