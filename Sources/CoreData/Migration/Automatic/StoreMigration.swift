import Foundation
import SQLiteConnection
import SQLiteEngine
import SQLiteMigration

/// A migration of one SQLite store to one model, worked out before it is run: for tools that show it first.
package struct StoreMigration {
    /// How the migration is carried out.
    package enum Way {
        /// The store fits the model already.
        case nothing
        /// By SQL, with these steps.
        case inPlace(MappingPlan, [MigrationStep])
        /// Object by object, by a mapping model.
        case mapped(NSMappingModel)
    }

    package let url: URL
    /// The model of the store.
    package let source: NSManagedObjectModel
    package let destination: NSManagedObjectModel
    package let way: Way
    /// How many objects a mapping model makes or changes before they are saved and let go.
    package var portion = NSMigrationManager.usualPortion

    /// Works out how to get a store to a model. Nothing is changed.
    ///
    /// - Parameters:
    ///   - url: the store.
    ///   - destination: the model to get to.
    ///   - mapping: the mapping model to follow; `nil` to infer one.
    /// - Throws: 134130 when the store's model cannot be found, 134140 when no mapping can be inferred or the given one is
    ///   for other versions, and the errors of opening a store.
    package init(at url: URL, to destination: NSManagedObjectModel, mapping: NSMappingModel? = nil) throws {
        let file = try StoreFile.openForReading(url)
        self.url = url
        self.destination = destination
        source = try SourceModel.find(file)
        let differences = try StoreCompatibility.differences(destination.entities, metadata: file.metadata()) {
            try file.cachedModel()
        }
        if differences.isEmpty {
            way = .nothing
            return
        }
        if let mapping {
            guard NSMappingModel.fits(mapping.entityMappings ?? [], from: source, to: destination) else {
                throw MigrationError.missingMappingModel(
                    url: url, source: source, destination: destination,
                    underlying: MigrationExpression.error("the mapping model was made for other versions of the models")
                )
            }
            way = .mapped(mapping)
            return
        }
        let plan: MappingPlan
        do { plan = try MappingInference.plan(from: source, to: destination) } catch {
            throw MigrationError.missingMappingModel(
                url: url, source: source, destination: destination, underlying: error)
        }
        let migrator = try InPlaceMigrator(file, from: source, to: destination, plan: plan, configuration: nil)
        way = .inPlace(plan, migrator.migration.steps)
    }

    /// Migrates the store, or leaves it as it was.
    package func run() throws {
        switch way {
        case .nothing: MigrationWorkspace.removeLeftovers(of: url)
        case .inPlace(let plan, _):
            let file = try StoreFile.open(url, mode: .readWrite)
            try InPlaceMigrator(file, from: source, to: destination, plan: plan, configuration: nil).run()
        case .mapped(let mapping):
            try MappedMigration(
                url: url, source: source, destination: destination, mapping: mapping, configuration: nil, options: nil,
                portion: portion
            ).run()
        }
    }
}
