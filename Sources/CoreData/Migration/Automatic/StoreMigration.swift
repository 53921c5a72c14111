import Foundation

/// A migration of one store to one model, planned before it is run, so that tools can show it first.
package struct StoreMigration {
    /// How the migration is carried out.
    package enum Way {
        /// The store already fits the model.
        case nothing
        /// In place, with these steps.
        case inPlace(MappingPlan, [MigrationStep])
        /// Object by object, by a mapping model.
        case mapped(NSMappingModel)
    }

    package let url: URL
    /// The model of the store.
    package let source: NSManagedObjectModel
    package let destination: NSManagedObjectModel
    package let way: Way
    /// The configuration of the models whose entities the store holds, and goes on to hold; nil for all entities.
    package let configuration: String?
    /// How many objects a mapping model makes or changes before they are saved and released.
    package var portion = NSMigrationManager.usualPortion
    private let format: any MigratableFormat.Type

    /// Plans the migration of a store to a model. Nothing is changed.
    ///
    /// - Parameters:
    ///   - type: the type of the store.
    ///   - url: the store.
    ///   - destination: the model to migrate to.
    ///   - mapping: the mapping model to use; `nil` to infer one.
    /// - Throws: 134130 if the store's model cannot be found, 134140 if no mapping can be inferred or the given one is
    ///   for other versions, and the errors of opening a store.
    package init(
        of type: String = NSSQLiteStoreType, at url: URL, to destination: NSManagedObjectModel,
        mapping: NSMappingModel? = nil
    ) throws {
        let format = try NSPersistentStoreCoordinator.migratableFormat(of: type, url)
        self.format = format
        self.url = url
        self.destination = destination
        let version = try format.version(of: url, options: nil)
        if version.differences(destination.entities, of: destination).isEmpty {
            (source, configuration) = (destination, nil)
            way = try Self.renaming(format, url, of: destination, nil)
            return
        }
        source = try format.sourceModel(of: url, near: destination, options: nil)
        configuration = PlainModel.keptConfiguration(from: source, to: destination, ofStoreWith: version.metadata)
        if let configuration, version.fits(destination, configuration: configuration) {
            way = try Self.renaming(format, url, of: destination, configuration)
            return
        }
        if let mapping {
            if let reason = Self.obstacle(mapping.entityMappings ?? [], from: source, to: destination) {
                throw MigrationError.missingMappingModel(
                    url: url, source: source, destination: destination, underlying: MigrationExpression.error(reason))
            }
            way = .mapped(mapping)
            return
        }
        let plan: MappingPlan
        do { plan = try MappingInference.plan(from: source, to: destination) } catch {
            throw MigrationError.missingMappingModel(
                url: url, source: source, destination: destination, underlying: error)
        }
        let migration = InferredMigration(
            from: source, to: destination, plan: plan, configuration: configuration)
        way = .inPlace(plan, try format.steps(of: migration, at: url))
    }

    /// What there is to do in a store of the right version: columns that an earlier version of Pippin has named get the
    /// names of Core Data.
    private static func renaming(
        _ format: any MigratableFormat.Type, _ url: URL, of model: NSManagedObjectModel, _ configuration: String?
    ) throws -> Way {
        guard try format.hasFormerNames(of: url, model, options: nil) else { return .nothing }
        let plan = MappingInference.plan(keeping: model)
        let migration = InferredMigration(from: model, to: model, plan: plan, configuration: configuration)
        return .inPlace(plan, try format.steps(of: migration, at: url))
    }

    /// The configuration that a store keeps when it is migrated; nil for a store of all entities, and where the new
    /// version lacks it.
    ///
    /// - Parameters:
    ///   - type: the type of the store.
    ///   - url: the store.
    ///   - destination: the model to migrate to.
    /// - Returns: its name; nil also for a store that cannot be opened, or whose model cannot be found.
    package static func keptConfiguration(
        of type: String = NSSQLiteStoreType, at url: URL, to destination: NSManagedObjectModel
    ) -> String? {
        guard let format = try? NSPersistentStoreCoordinator.migratableFormat(of: type, url),
            let source = try? format.sourceModel(of: url, near: destination, options: nil),
            let metadata = try? format.version(of: url, options: nil).metadata
        else { return nil }
        return PlainModel.keptConfiguration(from: source, to: destination, ofStoreWith: metadata)
    }

    /// The part of a plan that concerns the entities which the store holds, and those that inherit from them.
    package func shown(_ plan: MappingPlan) -> MappingPlan {
        plan.part(sources: held(of: source), destinations: held(of: destination))
    }

    private func held(of model: NSManagedObjectModel) -> Set<String>? {
        model.entityNames(inConfiguration: configuration).map { names in
            let members = model.entities.filter { names.contains($0.name ?? "") }
            return Set(members.flatMap(\.selfAndDescendants).compactMap(\.name))
        }
    }

    /// Why a mapping model is not for two versions; nil if it is.
    private static func obstacle(
        _ mappings: [NSEntityMapping], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> String? {
        guard MappingFit.agree(mappings, from: source, to: destination) else {
            return "the mapping model was made for other versions of the models"
        }
        let lost = MappingFit.lost(mappings, from: source, to: destination)
        if lost.isEmpty { return nil }
        let names = lost.map { "“\($0)”" }.joined(separator: ", ")
        return
            "the mapping model has no entity mapping for \(names), which both versions have, so that the objects would "
            + "be lost; add one, or one of the type “remove”"
    }

    /// Migrates the store; if this fails, the store is unchanged.
    package func run() throws {
        switch way {
        case .nothing: format.removeLeftovers(of: url)
        case .inPlace(let plan, _):
            let migration = InferredMigration(
                from: source, to: destination, plan: plan, configuration: configuration)
            try format.migrate(url, by: migration, options: nil, defersCleanup: false, progress: { _ in })
        case .mapped(let mapping):
            try MappedMigration(
                format: format, url: url, source: source, destination: destination, mapping: mapping,
                configuration: configuration, options: nil, portion: portion
            ).run()
        }
    }
}
