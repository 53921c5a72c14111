import CoreDataModel
import Foundation
import MigrationPlans
import SQLGeneration
import SQLiteConnection

/// Makes the indexes that a model has and a store of its version lacks. Version hashes do not cover indexes, so no
/// migration makes them.
struct IndexRenewal {
    let url: URL
    let model: NSManagedObjectModel
    let timeout: Double

    /// Makes missing indexes and then updates the store's copy of its model, in one transaction. If none is missing,
    /// nothing is written.
    ///
    /// - Parameters:
    ///   - entities: the entities whose indexes are made; others belong to other programs.
    ///   - released: constraints whose indexes are removed, by entity.
    /// - Throws: 134111 if rows share values that must be unique. The store is then unchanged.
    func run(entities: Set<String>, releasing released: [String: [[String]]]) throws {
        let (made, removed) = try differences(
            try StoreFile.openForReading(url, timeout: timeout), entities, released)
        guard !made.isEmpty || !removed.isEmpty else { return }
        let file = try StoreFile.open(url, mode: .readWrite, timeout: timeout)
        let cache = try ModelCache.modelCacheData(for: model)
        do {
            try file.connection.transaction(.exclusive) {
                // Another program may have changed the store while this one waited.
                guard try fits(file) else { throw MigrationError.changed(url) }
                let (made, removed) = try differences(file, entities, released)
                for name in removed { try file.connection.execute("DROP INDEX \(quoted(name))") }
                for index in made { try file.connection.execute(index.creation) }
                try file.renewModelCache(cache)
            }
        } catch let error as SQLiteError where error.isConstraint {
            throw StoreError.make(
                NSMigrationConstraintViolationError,
                "The store “\(url.lastPathComponent)” has objects with the same values where these must be unique "
                    + "(\(error.message)).", url: url, suggestion: "Change or delete all but one of them first.",
                underlying: error)
        } catch {
            throw SQLiteStoreError.make(
                error, fallback: CoreDataErrorCode.migration, work: "make the indexes of", url: url)
        }
    }

    private func fits(_ file: StoreFile) throws -> Bool {
        try StoreCompatibility.differences(model.entities, metadata: file.metadata()) {
            try file.model(orSupposed: model)
        }.isEmpty
    }

    private func differences(
        _ file: StoreFile, _ entities: Set<String>, _ released: [String: [[String]]]
    ) throws -> (made: [IndexDefinition], removed: [String]) {
        let catalog = try file.catalog()
        let schema = SQLSchema(
            layout: try model.compiledLayout(), numbers: catalog.numbers(for: model), catalog: catalog)
        let existing = Set(try StoreStructure(file).indexes.keys)
        let wanted = schema.layout.entities.filter { $0.superentity == nil && entities.contains($0.name) }
            .flatMap { schema.indexes(of: $0) }
        let made = wanted.filter { !existing.contains($0.name) && catalog.tables[$0.table] != nil }
        let names = Set(wanted.map(\.name))
        let removed = released.flatMap { entity, constraints in
            constraints.map { "Z_\(entity)_UNIQUE_\($0.joined(separator: "_"))" }
        }.filter { existing.contains($0) && !names.contains($0) }
        return (made, removed.sorted())
    }
}
