import CoreData
import Foundation

/// `pippin migrate`: shows what will be done, and does it with a backup at hand.
enum Migrating {
    static func run(_ options: Invocation.MigrateOptions, _ output: (String) throws -> Void) throws {
        let store = URL(fileURLWithPath: options.store)
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
        let plan = try MigrationChoice(options, store: store)
        try output(plan.description(withStatements: options.isDryRun))
        guard plan.changesAnything, !options.isDryRun else { return }
        let backup = store.deletingLastPathComponent().appendingPathComponent(
            store.deletingPathExtension().lastPathComponent + ".backup-\(UUID().uuidString.prefix(8))."
                + store.pathExtension)
        try StoreMigration.backUp(store, to: backup)
        do { try plan.run(output) } catch {
            try output("The migration failed. The store is as it was; a copy of it is “\(backup.path)”.\n")
            throw error
        }
        try StoreMigration.removeBackup(backup)
        try output("Done.\n")
    }
}
