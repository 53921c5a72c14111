import CoreDataModel
import Foundation
import MigrationPlans
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension SQLiteFormat: MigratableFormat {
    private static func timeout(_ options: [AnyHashable: Any]?) -> Double { StoreSettings(options).timeout }

    private static func writable(_ url: URL, _ options: [AnyHashable: Any]?) throws -> StoreFile {
        try StoreFile.open(url, mode: .readWrite, timeout: timeout(options))
    }

    package static func version(of url: URL, options: [AnyHashable: Any]?) throws -> StoreVersion {
        let file = try StoreFile.openForReading(url, timeout: timeout(options))
        return try file.readingOneState("read the version of") {
            StoreVersion(
                metadata: try file.metadata(), model: try file.cachedModel(),
                hasHistory: try StoreStructure(file).hasHistory, hasTables: { (try? file.hasTables(of: $0)) ?? false })
        }
    }

    package static func sourceModel(
        of url: URL, near destination: NSManagedObjectModel?, options: [AnyHashable: Any]?
    ) throws -> NSManagedObjectModel {
        try SourceModel.find(StoreFile.openForReading(url, timeout: timeout(options)), near: destination)
    }

    /// Moves the write-ahead log into the file, as far as other processes permit.
    package static func prepareMigration(of url: URL, options: [AnyHashable: Any]?) throws {
        let file = try writable(url, options)
        try file.run("prepare the migration of") { try file.connection.checkpoint(.passive) }
    }

    // MARK: In place

    package static func hasFormerNames(
        of url: URL, _ model: NSManagedObjectModel, options: [AnyHashable: Any]?
    ) throws -> Bool {
        let file = try StoreFile.openForReading(url, timeout: timeout(options))
        return try file.readingOneState("read the tables of") {
            let (catalog, layout) = (try file.catalog(), try model.compiledLayout())
            let stored = Set(StoreMetadata.hashes(in: try file.metadata()).keys)
            let (names, numbers) = (stored.isEmpty ? nil : stored, catalog.numbers(for: model))
            return SQLSchema(layout: layout, entityNames: names, numbers: numbers, catalog: catalog)
                .hasFormerOrderColumns(unlike: SQLSchema(layout: layout, entityNames: names, numbers: numbers))
        }
    }

    package static func steps(of migration: InferredMigration, at url: URL) throws -> [MigrationStep] {
        try InPlaceMigrator(StoreFile.openForReading(url), migration).migration.steps
    }

    package static func migrate(
        _ url: URL, by migration: InferredMigration, options: [AnyHashable: Any]?, defersCleanup: Bool,
        progress: (Double) -> Void
    ) throws {
        do {
            try InPlaceMigrator(writable(url, options), migration, defersCleanup: defersCleanup).run(progress: progress)
        } catch let error as NSError where error.code == CoreDataErrorCode.persistentStoreTimeout {
            // Another process may have done the same meanwhile.
            let version = try? version(of: url, options: options)
            guard version?.fits(migration.destination, configuration: migration.configuration) == true else {
                throw error
            }
        }
    }

    package static func alone(_ url: URL, options: [AnyHashable: Any]?, _ work: () throws -> Void) throws {
        try MigrationWorkspace.with(url, .stages, timeout: timeout(options)) { _ in try work() }
    }

    // MARK: By a successor

    package static func succeed(
        _ url: URL, options: [AnyHashable: Any]?, failing: (any Error) -> any Error,
        _ make: (any SuccessorPlaces) throws -> URL?
    ) throws {
        let timeout = timeout(options)
        try ChangeMark.retrying(url) {
            try MigrationWorkspace.with(url, timeout: timeout) { workspace in
                let mark = try ChangeMark(url, timeout: timeout)
                guard let made = try make(Places(workspace, of: url, options)) else { return }
                do { try StoreReplacement.replace(url, with: made, options: options, since: mark) } catch {
                    throw error is ChangeMark.Change ? error : failing(error)
                }
            }
        }
    }

    /// Places in a folder beside the store.
    private final class Places: SuccessorPlaces {
        private let workspace: MigrationWorkspace
        private let store: URL
        private let options: [AnyHashable: Any]?

        init(_ workspace: MigrationWorkspace, of store: URL, _ options: [AnyHashable: Any]?) {
            (self.workspace, self.store, self.options) = (workspace, store, options)
        }

        var folder: URL { workspace.folder }
        func place(step: Int) throws -> URL { try workspace.place(for: store, step: step) }
        func remove(_ place: URL) throws { try workspace.remove(place) }

        func copy(_ store: URL, to place: URL) throws {
            try StoreFiles.replace(at: place, from: store, options: options, code: CoreDataErrorCode.migration)
        }
    }

    package static func continuity(of url: URL, options: [AnyHashable: Any]?) throws -> any StoreContinuity {
        try FileContinuity(url, timeout: timeout(options))
    }

    // MARK: Around it

    package static func exists(at url: URL, options: [AnyHashable: Any]?) throws -> Bool {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        return ((attributes?[.size] as? NSNumber)?.intValue ?? 0) > 0
    }

    /// An impossible place is reported later.
    package static func protect(_ place: URL, like store: URL) {
        _ = try? StorePermissions(of: store).makeDatabase(place)
    }

    package static func remove(at url: URL, options: [AnyHashable: Any]?) throws { try StoreFiles.remove(at: url) }

    package static func removeLeftovers(of url: URL) { MigrationWorkspace.removeLeftovers(of: url) }

    package static func reconciliation(
        at url: URL, program: NSManagedObjectModel, rules: ReconciliationRules, options: [AnyHashable: Any]?
    ) throws -> (any ReconcilableStore)? {
        try StoreReconciliation(
            at: url, program: program, rules: rules, timeout: StoreSettings(options).timeout)
    }
}

extension InPlaceMigrator {
    init(_ file: StoreFile, _ migration: InferredMigration, defersCleanup: Bool = false) throws {
        try self.init(
            file, from: migration.source, to: migration.destination, plan: migration.plan,
            configuration: migration.configuration, defersCleanup: defersCleanup)
    }
}
