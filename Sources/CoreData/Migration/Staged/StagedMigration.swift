import Foundation

/// Migrates a store through the stages of a manager.
struct StagedMigration {
    let manager: NSStagedMigrationManager
    let format: any MigratableFormat.Type
    let url: URL
    let model: NSManagedObjectModel
    let configuration: String?
    let options: [AnyHashable: Any]?

    /// One process at a time runs stages. If a process migrates the store in another way meanwhile, the stages up to
    /// its new version count as done.
    ///
    /// - Throws: 134504 if no stage has the store's or the model's version, 134506 if the model is older than the
    ///   store, 134090 if another process is running stages, the errors of handlers, and those of lightweight
    ///   migration, with the stage. The store then has the version of the last completed stage, or its own if the
    ///   manager completes all stages or none.
    func run() throws {
        defer { manager.container = nil }
        guard manager.isAllOrNothing, try hasCode() else {
            return try format.alone(url, options: options) { try runStages() }
        }
        try format.succeed(url, options: options, failing: { $0 }) { places in
            // Another process may have run the stages while this one waited.
            guard try hasCode() else { return nil }
            let place = try places.place(step: 1)
            try places.copy(url, to: place)
            let migration = StagedMigration(
                manager: manager, format: format, url: place, model: model, configuration: configuration,
                options: options)
            try migration.runStages()
            return place
        }
        _ = try migrate(to: model)
    }

    private func runStages() throws {
        for index in try plan(to: model).customStages {
            guard let stage = manager.stages[index] as? NSCustomMigrationStage else { continue }
            do { try run(stage) } catch { throw failure(stage, error) }
        }
        _ = try migrate(to: model)
    }

    /// Whether a stage between the store's version and the model has a handler.
    private func hasCode() throws -> Bool {
        try plan(to: model).customStages.contains { index in
            guard let stage = manager.stages[index] as? NSCustomMigrationStage else { return false }
            return stage.willMigrateHandler != nil || stage.didMigrateHandler != nil
        }
    }

    private func plan(to model: NSManagedObjectModel) throws -> StagedPlan {
        let stages = try manager.stages.map { stage -> StagedPlan.Stage in
            switch stage {
            case let stage as NSLightweightMigrationStage: return .lightweight(stage.versionChecksums)
            case let stage as NSCustomMigrationStage:
                return .custom(from: stage.currentModel.versionChecksum, to: stage.nextModel.versionChecksum)
            default:
                throw StoreError.make(
                    CoreDataErrorCode.migration,
                    "The stage “\(stage.label ?? "")” is neither lightweight nor custom.", url: url)
            }
        }
        let metadata = try format.metadata(at: url, options: options)
        let store = StoredVersionHashes(metadata)?.checksums ?? []
        let names = VersionNames([store, model.versionChecksums] + referenceChecksums())
        let (start, end) = (names.name(of: store), names.name(of: model.versionChecksums))
        let named = stages.map { $0.renamed(names.name) }
        do { return try StagedPlan(named, from: start, to: end) } catch {
            throw unplanned(error, metadata: metadata, checksum: store.sorted().joined(separator: " or "), model)
        }
    }

    /// The checksums of each model that custom stages refer to. A missing model is reported when its stage is run.
    private func referenceChecksums() -> [Set<String>] {
        let stages = manager.stages.compactMap { $0 as? NSCustomMigrationStage }
        return stages.flatMap { [$0.currentModel, $0.nextModel] }.map { reference in
            let model = try? reference.resolve()
            return (model?.versionChecksums ?? []).union([reference.versionChecksum])
        }
    }

    private func unplanned(
        _ obstacle: StagedPlan.Obstacle, metadata: [String: Any], checksum: String, _ model: NSManagedObjectModel
    ) -> NSError {
        let unknown = CoreDataErrorCode.managedObjectModelReferenceNotFound
        let (code, reason): (Int, String) =
            switch obstacle {
            case .unknownStoreVersion: (unknown, "Cannot use staged migration with an unknown model version.")
            case .unknownModelVersion:
                (unknown, "Cannot use staged migration with an unknown coordinator model version.")
            case .backward:
                (NSStagedMigrationBackwardMigrationError, "Cannot use staged migration to get to an earlier version.")
            }
        return StoreError.make(
            code,
            "\(reason) The store “\(url.lastPathComponent)” is of "
                + "\(VersionDescription(metadata).text(with: checksum)), the model of "
                + "\(VersionDescription(model).text(with: model.versionChecksum)).", url: url,
            suggestion: "Add a stage that has both versions.", userInfo: ["reason": reason])
    }

    private func run(_ stage: NSCustomMigrationStage) throws {
        guard try migrate(to: stage.currentModel.resolve()) else { return }
        try handle(stage, stage.currentModel.resolve(), stage.willMigrateHandler)
        guard try migrate(to: stage.nextModel.resolve()) else { return }
        try handle(stage, stage.nextModel.resolve(), stage.didMigrateHandler)
    }

    /// Opens the store in a container for a handler.
    private func handle(
        _ stage: NSCustomMigrationStage, _ model: NSManagedObjectModel,
        _ handler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
    ) throws {
        guard let handler else { return }
        let name = stage.label ?? ""
        let container = NSPersistentContainer(
            name: name.isEmpty ? "Migration" : name, managedObjectModel: model)
        container.persistentStoreDescriptions = []
        try container.persistentStoreCoordinator.addPersistentStore(
            ofType: format.type, configurationName: configuration, at: url,
            options: StoreMigrationOptions.plain(options))
        manager.container = container
        let outcome = Result { try handler(manager, stage) }
        manager.container = nil
        for store in container.persistentStoreCoordinator.persistentStores {
            try container.persistentStoreCoordinator.remove(store)
        }
        try outcome.get()
    }

    /// A lightweight migration; it does nothing for a store that fits already.
    ///
    /// - Returns: false for a store that is of a later version; it is left alone.
    private func migrate(to model: NSManagedObjectModel) throws -> Bool {
        var source: NSManagedObjectModel?
        while true {
            let version = try format.version(of: url, options: options)
            if version.fits(model, configuration: configuration) { return true }
            do { _ = try plan(to: model) } catch let error as NSError
                where error.code == NSStagedMigrationBackwardMigrationError
            { return false }
            if let source {
                try format.migrateByInference(
                    url, from: source, to: model, configuration: configuration, options: options)
                return true
            }
            // The version is looked at again afterwards: a later one must not become the source.
            source = try format.sourceModel(of: url, near: model, options: options)
        }
    }

    private func failure(_ stage: NSCustomMigrationStage, _ error: any Error) -> NSError {
        let cause = error as NSError
        var info = cause.userInfo
        info["stage"] = stage.label ?? ""
        info[NSUnderlyingErrorKey] = cause
        info[NSLocalizedDescriptionKey] =
            "The stage “\(stage.label ?? "")” of the migration of “\(url.lastPathComponent)” failed: \(cause.localizedDescription)"
        return NSError(domain: cause.domain, code: cause.code, userInfo: info)
    }
}

/// Gives each version of a model one name, although it has several checksums: Apple's and ours, which are computed
/// differently. Pure.
struct VersionNames {
    private let names: [String: String]

    /// - Parameter versions: the checksums of versions; sets with a common checksum are the same version.
    init(_ versions: [Set<String>]) {
        var merged: [Set<String>] = []
        for version in versions {
            let same = merged.filter { !$0.isDisjoint(with: version) }
            merged.removeAll { !$0.isDisjoint(with: version) }
            merged.append(same.reduce(version) { $0.union($1) })
        }
        var names: [String: String] = [:]
        for version in merged {
            guard let name = version.min() else { continue }
            for checksum in version { names[checksum] = name }
        }
        self.names = names
    }

    /// The name of the version with a checksum; the checksum itself if it is unknown.
    func name(_ checksum: String) -> String { names[checksum] ?? checksum }

    /// The name of the version with some checksums.
    func name(of checksums: Set<String>) -> String { checksums.min().map(name) ?? "" }
}

/// The steps of a staged migration, as a value: the stages between two versions of a store.
struct StagedPlan: Equatable {
    /// A stage, reduced to what matters for the order of versions.
    enum Stage: Equatable {
        case lightweight([String])
        case custom(from: String, to: String)

        var versions: [String] {
            switch self {
            case .lightweight(let versions): return versions
            case .custom(let from, let to): return [from, to]
            }
        }

        /// The stage with other names for the versions.
        func renamed(_ name: (String) -> String) -> Stage {
            switch self {
            case .lightweight(let versions): return .lightweight(versions.map(name))
            case .custom(let from, let to): return .custom(from: name(from), to: name(to))
            }
        }
    }

    /// The reason why there is no path.
    enum Obstacle: Error, Equatable {
        case unknownStoreVersion
        case unknownModelVersion
        case backward
    }

    /// The custom stages to run, by their indexes; before, between and after them lightweight migrations are inferred.
    let customStages: [Int]

    /// - Parameters:
    ///   - stages: the stages, in order.
    ///   - store: the version checksum of the store.
    ///   - model: the version checksum of the model to migrate to.
    /// - Throws: the obstacle that prevents the stages from leading from one version to the other.
    init(_ stages: [Stage], from store: String, to model: String) throws(Obstacle) {
        var order: [(version: String, stage: Int)] = []
        for (index, stage) in stages.enumerated() { order += stage.versions.map { ($0, index) } }
        guard let start = order.lastIndex(where: { $0.version == store }) else { throw .unknownStoreVersion }
        guard let end = order.lastIndex(where: { $0.version == model }) else { throw .unknownModelVersion }
        guard start <= end else { throw .backward }
        customStages = stages.indices.filter { index in
            guard case .custom = stages[index], let first = order.firstIndex(where: { $0.stage == index }) else {
                return false
            }
            return first >= start && first + 1 <= end
        }
    }
}

/// A step of a staged migration with code before and after it.
///
/// The step itself is a lightweight migration from one model to the next; the handlers prepare the data for it, and
/// complete it.
open class NSCustomMigrationStage: NSMigrationStage {
    /// The model before the step.
    public let currentModel: NSManagedObjectModelReference
    /// The model after the step.
    public let nextModel: NSManagedObjectModelReference

    /// Called before the step; the manager's container has the store open with the current model.
    open var willMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?
    /// Called after the step; the manager's container has the store open with the next model.
    ///
    /// The step itself is complete then: if the handler throws or the process ends, the store stays of the next model,
    /// and the handler is not called again. What must not be missed is done by `willMigrateHandler`, or by work that
    /// finds out for itself whether it was done.
    open var didMigrateHandler: ((NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void)?

    /// Creates a stage from one version of a model to another.
    ///
    /// - Parameters:
    ///   - currentModel: the version before the stage.
    ///   - nextModel: the version after it.
    public init(migratingFrom currentModel: NSManagedObjectModelReference, to nextModel: NSManagedObjectModelReference)
    {
        self.currentModel = currentModel
        self.nextModel = nextModel
        super.init()
    }
}

/// A step of a staged migration without code: versions of a model between which mappings can be inferred.
open class NSLightweightMigrationStage: NSMigrationStage {
    /// The version checksums of the models, in the order of the versions.
    public let versionChecksums: [String]

    /// Creates a stage over versions of a model, in order, by their version checksums.
    ///
    /// - Parameter versionChecksums: the `versionChecksum` of each version.
    public init(_ versionChecksums: [String]) {
        self.versionChecksums = versionChecksums
        super.init()
    }
}

/// A step of a staged migration; use ``NSLightweightMigrationStage`` or ``NSCustomMigrationStage``.
open class NSMigrationStage: NSObject {
    /// A name for logs and errors.
    open var label: String! = ""
}

/// Migrates stores over several versions of a model, stage by stage.
///
/// ```swift
/// let manager = NSStagedMigrationManager([NSLightweightMigrationStage([v1, v2]), custom, NSLightweightMigrationStage([v3, v4])])
/// description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
/// ```
///
/// Each stage ends with a store of a known version, so that an interrupted migration continues from there.
open class NSStagedMigrationManager: NSObject {
    // Used on the thread that adds the store.

    /// The stages, in the order of the versions.
    public let stages: [NSMigrationStage]

    /// The container of the store during its migration, for the handlers of custom stages; `nil` at other times.
    open internal(set) var container: NSPersistentContainer?

    /// Whether the stages are run on a copy, which takes the store's place when all are complete. What a handler
    /// throws, and the end of the process, then leave the store as it was.
    package var isAllOrNothing = false

    /// Creates a manager of stages in the order of the versions.
    ///
    /// - Parameter stages: the stages.
    public init(_ stages: [NSMigrationStage]) {
        self.stages = stages
        super.init()
    }
}
