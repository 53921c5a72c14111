import CoreData
import Foundation
import SQLiteEngine
import StoreReading

/// `pippin migrate`: shows what will be done, and does it. A migration that fails leaves the store as it was.
enum Migrating {
    static func run(_ options: Invocation.MigrateOptions, _ output: (String) throws -> Void) throws {
        let store = URL(store: options.store)
        for (what, path) in [
            ("store", options.store), ("mapping model", options.mapping),
            ("folder of mapping models", options.mappings),
        ] {
            guard let path else { continue }
            let file = URL(fileURLWithPath: path)
            guard FileManager.default.fileExists(atPath: file.path) else {
                throw CommandError("there is no \(what) “\(file.path)”")
            }
        }
        let logs = try LogFiles(of: store)
        defer { logs.leave() }
        let kind = try StoreKind(of: store)
        guard kind == .sqlite else { return try DocumentMigrating.run(options, store, type: kind.type, output) }
        guard let plan = try plan(options, store, output) else { return }
        try plan.run(output)
        try output("Done.\n")
    }

    /// Says what is to be done, without changing the store or the files beside it.
    ///
    /// - Returns: how it is done; nil if nothing is.
    private static func plan(
        _ options: Invocation.MigrateOptions, _ store: URL, _ output: (String) throws -> Void
    ) throws -> MigrationChoice? {
        // Without room for a copy, a migration plans in place, as it is going to write there.
        let copy = options.isDryRun ? try PrivateCopy(leavingLogOf: store) : try? PrivateCopy(leavingLogOf: store)
        return try withExtendedLifetime(copy) {
            let readable = copy?.url ?? store
            let plan = try MigrationChoice(options, store: readable)
            if !plan.changesAnything { try checkOpening(store, readable, plan) }
            try output(plan.description(withStatements: options.isDryRun))
            guard plan.changesAnything, !options.isDryRun else { return nil }
            return try copy == nil ? plan : MigrationChoice(options, store: store)
        }
    }

    /// Checks that a store whose version already matches can also be opened with the model, so that “nothing to do” is
    /// not reported for one that cannot.
    private static func checkOpening(_ store: URL, _ readable: URL, _ plan: MigrationChoice) throws {
        do {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: plan.destination)
            let opened = try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: plan.configuration, at: readable,
                options: [NSReadOnlyPersistentStoreOption: true])
            // A store that lacks columns opens all the same. A migration would report the same finding.
            let finding = opened.engine.inspection?.findings.first
            try coordinator.remove(opened)
            if let finding { throw finding.error(url: store) }
        } catch let error as NSError {
            throw CommandError(
                "“\(store.path)” is of the version of the model already, and cannot be opened with it: "
                    + error.localizedDescription)
        }
    }
}

/// `pippin migrate` for XML and binary stores: object by object, into a file that replaces the store when it is
/// complete.
enum DocumentMigrating {
    static func run(
        _ options: Invocation.MigrateOptions, _ store: URL, type: String, _ output: (String) throws -> Void
    ) throws {
        if options.mapping != nil {
            throw CommandError(
                "“\(store.path)” is not a SQLite store: name the folder of its mapping models by --mappings")
        }
        let package = try ModelPackage(at: URL(fileURLWithPath: options.model))
        let model = try package.model(version: options.version)
        let name = "“\(store.lastPathComponent)”"
        func open(_ options: [AnyHashable: Any], _ check: (NSPersistentStore) throws -> Void = { _ in }) throws {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let opened = try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: store, options: options)
            try check(opened)
            try coordinator.remove(opened)
        }
        do {
            // A file of another version may be readable with this one, too, so its version is checked by itself.
            try open([NSReadOnlyPersistentStoreOption: true]) {
                try ($0 as? DocumentStore)?.checkVersion(among: KnownVersions(package, mappingFolders: []).versions)
            }
            return try output("\(name) fits the model already; there is nothing to do.\n")
        } catch let error as NSError where error.code == NSPersistentStoreIncompatibleVersionHashError {}
        try output("\(name) is migrated object by object.\n")
        if options.isDryRun { return }
        let folders = options.mappings.map { [URL(fileURLWithPath: $0, isDirectory: true)] } ?? []
        try open([
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            PippinProgressiveMigrationOptionKey: KnownVersions(package, mappingFolders: folders, readsSources: true),
        ])
        try output("Done.\n")
    }
}

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
            let changes =
                migration.source === migration.destination
                ? "\(name) fits the model. Columns that an earlier version of Pippin has named get the names of Core Data.\n"
                : "\(name) is migrated in place:\n" + MigrationText.plan(migration.shown(plan))
            return changes + statements
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
