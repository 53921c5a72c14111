import CoreData
import Foundation
import StoreReading

/// How a store is migrated: in one step, or over several versions of its model.
enum MigrationChoice {
    case direct(StoreMigration)
    case chain(ProgressiveMigration, to: NSManagedObjectModel)

    /// Works out the way. Nothing is changed.
    init(_ options: Invocation.MigrateOptions, store: URL) throws {
        let package = try ModelPackage(at: URL(fileURLWithPath: options.model))
        let model = try package.model(version: options.version)
        func chain(_ folders: [URL]) throws -> MigrationChoice {
            let known = try KnownVersions(package, mappingFolders: folders, readsSources: true)
            let configuration = StoreMigration.keptConfiguration(at: store, to: model)
            return .chain(
                try ProgressiveMigration(at: store, to: model, over: known, configuration: configuration), to: model)
        }
        if let folder = options.mappings {
            self = try chain([URL(fileURLWithPath: folder, isDirectory: true)])
            return
        }
        do {
            self = .direct(
                try StoreMigration(
                    at: store, to: model, mapping: options.mapping.map { try Self.mapping($0, from: store, to: model) })
            )
        } catch let error as NSError
            where error.code == NSMigrationMissingMappingModelError && options.mapping == nil
            && package.versions.count > 1
        {
            // What cannot be inferred in one step may be in several.
            self = try chain([])
        }
    }

    /// The mapping model of a file; a source is compiled for the store's model and the one to get to.
    private static func mapping(
        _ path: String, from store: URL, to model: NSManagedObjectModel
    ) throws -> NSMappingModel {
        let mapping = NSMappingModel()
        let url = URL(fileURLWithPath: path)
        let isSource = url.pathExtension == "xcmappingmodel"
        let format = NSPersistentStoreCoordinator.migratableFormat(ofType: NSSQLiteStoreType)
        let former = isSource ? try format?.sourceModel(of: store, near: model, options: nil) : nil
        mapping.entityMappings = try NSMappingModel.mappings(
            at: url, models: former.map { (source: $0, destination: model) })
        return mapping
    }

    var changesAnything: Bool {
        switch self {
        case .direct(let migration):
            if case .nothing = migration.way { return false }
            return true
        case .chain(let migration, _): return !migration.steps.isEmpty
        }
    }

    /// The model to get to.
    var destination: NSManagedObjectModel {
        switch self {
        case .direct(let migration): migration.destination
        case .chain(_, let model): model
        }
    }

    /// The configuration of the model whose entities the store holds; nil for all.
    var configuration: String? {
        switch self {
        case .direct(let migration): migration.configuration
        case .chain(let migration, _): migration.configuration
        }
    }

    /// What will be done.
    func description(withStatements: Bool) -> String {
        switch self {
        case .direct(let migration): return Self.text(migration, withStatements)
        case .chain(let migration, _):
            guard changesAnything else { return Self.nothing(migration.url) }
            return "“\(migration.url.lastPathComponent)” is migrated step by step:\n"
                + migration.description + "\n"
        }
    }

    private static func nothing(_ store: URL) -> String {
        "“\(store.lastPathComponent)” fits the model already; there is nothing to do.\n"
    }

    private static func text(_ migration: StoreMigration, _ withStatements: Bool) -> String {
        let name = "“\(migration.url.lastPathComponent)”"
        switch migration.way {
        case .nothing: return nothing(migration.url)
        case .inPlace(let plan, let steps):
            let statements = withStatements ? "Statements, in one transaction:\n" + MigrationText.steps(steps) : ""
            return "\(name) is migrated in place:\n" + MigrationText.plan(migration.shown(plan)) + statements
        case .mapped(let mapping):
            return "\(name) is migrated object by object:\n" + MigrationText.mapping(mapping)
        }
    }

    /// Migrates the store, or leaves it as it was.
    ///
    /// - Parameter output: gets a line whenever a step of several begins.
    /// - Throws: the errors of the migration; the store is as it was.
    func run(_ output: (String) throws -> Void) throws {
        switch self {
        case .direct(let migration): try migration.run()
        case .chain(let migration, _):
            try withoutActuallyEscaping(output) { output in
                var begun = 0
                try migration.run { progress in
                    guard progress.step > begun else { return }
                    begun = progress.step
                    // A closed output does not stop the migration.
                    try? output("Step \(progress.step) of \(progress.stepCount) …\n")
                }
            }
        }
    }
}
