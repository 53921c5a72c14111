import CoreData
import Foundation

/// `pippin migrate`: shows what will be done, and does it with a backup at hand.
enum Migrating {
    static func run(_ options: Invocation.MigrateOptions, _ output: (String) throws -> Void) throws {
        let store = URL(fileURLWithPath: options.store)
        guard FileManager.default.fileExists(atPath: store.path) else {
            throw CommandError("there is no store “\(store.path)”")
        }
        let migration = try StoreMigration(
            at: store, to: model(options.model, version: options.version), mapping: options.mapping.map(mapping))
        switch migration.way {
        case .nothing:
            try output("“\(store.lastPathComponent)” fits the model already; there is nothing to do.\n")
            return
        case .inPlace(let plan, let steps):
            try output("“\(store.lastPathComponent)” is migrated in place:\n" + MigrationText.plan(plan))
            if options.isDryRun { try output("Statements, in one transaction:\n" + MigrationText.steps(steps)) }
        case .mapped(let mapping):
            try output("“\(store.lastPathComponent)” is migrated object by object:\n" + MigrationText.mapping(mapping))
        }
        if options.isDryRun { return }
        let backup = store.deletingLastPathComponent().appendingPathComponent(
            store.deletingPathExtension().lastPathComponent + ".backup-\(UUID().uuidString.prefix(8))."
                + store.pathExtension)
        try migration.backUp(to: backup)
        do { try migration.run() } catch {
            try output("The migration failed. The store is as it was; a copy of it is “\(backup.path)”.\n")
            throw error
        }
        try migration.removeBackup(backup)
        try output("Done.\n")
    }

    private static func model(_ path: String, version: String?) throws -> NSManagedObjectModel {
        try ModelPackage(at: URL(fileURLWithPath: path)).model(version: version)
    }

    private static func mapping(_ path: String) throws -> NSMappingModel {
        let mapping = NSMappingModel()
        mapping.entityMappings = try NSMappingModel.mappings(at: URL(fileURLWithPath: path))
        return mapping
    }
}
