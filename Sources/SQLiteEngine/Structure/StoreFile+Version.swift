import CoreDataModel
import SQLGeneration
import StoreEngine

extension StoreFile {
    /// The model that the store was made with: its own copy, or, where it keeps none, a supposed one that makes exactly the
    /// tables that the store has.
    ///
    /// Core Data before iOS 8 kept no copy. Version hashes of Apple's cannot be compared with ours, so that the tables decide.
    ///
    /// - Parameter supposed: a version of a model that the store may be of.
    /// - Returns: the model; `nil` where the store keeps no copy and has other tables.
    /// - Throws: what SQLite reports, and errors of a copy that cannot be read.
    package func model(orSupposed supposed: NSManagedObjectModel) throws -> NSManagedObjectModel? {
        if let copy = try cachedModel() { return copy }
        return try hasTables(of: supposed) ? supposed : nil
    }

    /// Whether the tables are those of a model, as far as the store has its entities.
    package func hasTables(of model: NSManagedObjectModel) throws -> Bool {
        let names = Set(StoreMetadata.hashes(in: try metadata()).keys)
        guard !names.isEmpty, names.isSubset(of: model.entitiesByName.keys) else { return false }
        let catalog = try catalog()
        let schema = SQLSchema(
            layout: try model.compiledLayout(), entityNames: names, numbers: catalog.numbers(for: model),
            catalog: catalog)
        return schema.makesTables(of: catalog)
    }
}
