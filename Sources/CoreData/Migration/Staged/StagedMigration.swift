import CompactCollections
import Foundation
import Ordering

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
    ///   migration, with the stage. The store then has the version of the last completed stage.
    func run() throws {
        defer { manager.container = nil }
        try format.alone(url, options: options) {
            for index in try plan(to: model).customStages {
                guard let stage = manager.stages[index] as? NSCustomMigrationStage else { continue }
                do { try run(stage) } catch { throw failure(stage, error) }
            }
            _ = try migrate(to: model)
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
