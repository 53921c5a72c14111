import CompactCollections
import CoreDataModel
import SQLGeneration
import StoreEngine

extension StoreFile {
    /// The model with which the store was made: its own copy or, if it keeps none or one of another version, a supposed
    /// one that has exactly the store's tables.
    ///
    /// Core Data before iOS 8 kept no copy. Apple's version hashes cannot be compared with ours, so the tables decide.
    ///
    /// - Parameters:
    ///   - supposed: a version of a model that the store may be of.
    ///   - leavesJoinTables: whether the store may have other join tables, too.
    /// - Returns: the model; `nil` if the store keeps no copy and has other tables.
    /// - Throws: SQLite's errors, and the errors of a copy that cannot be read.
    package func model(
        orSupposed supposed: NSManagedObjectModel, leavesJoinTables: Bool = false
    ) throws -> NSManagedObjectModel? {
        try readingOneState("read the model of") {
            let copy = try cachedModel()
            return try StoredModel.choose(copy: copy, supposed: supposed) { model in
                let left = try leftJoinTables(of: model)
                return left.map { $0.isEmpty || copy == nil && leavesJoinTables } ?? false
            }
        }
    }

    /// Whether the tables are those of a model, for the entities that the store has.
    package func hasTables(of model: NSManagedObjectModel) throws -> Bool {
        try leftJoinTables(of: model)?.isEmpty ?? false
    }

    /// The join tables that the store has beside the tables of a model; nil if it does not have these, for the entities
    /// that it has.
    package func leftJoinTables(of model: NSManagedObjectModel) throws -> [String]? {
        let catalog = try catalog()
        // The metadata of Mac OS X 10.4 have no hashes.
        let hashed = Set(StoreMetadata.hashes(in: try metadata()).keys)
        let names = hashed.isEmpty ? Set(catalog.numbers.keys) : hashed
        guard !names.isEmpty, names.isSubset(of: model.entitiesByName.keys) else { return nil }
        let schema = SQLSchema(
            layout: try model.compiledLayout(), entityNames: names, numbers: catalog.numbers(for: model),
            catalog: catalog)
        return schema.leftJoinTables(of: catalog)
    }
}
