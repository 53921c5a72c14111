import CoreData
import Foundation
import SQLiteEngine
import SQLiteMigration
import StoreReading

/// `pippin migrate`: shows what will be done, and does it with a backup at hand.
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
        let folder = MigrationWorkspace.folder(of: store, .backup)
        defer { EndingSignals.keep(folder) }
        // Before the lock is held, the folder may be that of another migration.
        try StoreBackup.with(store, whenLocked: { EndingSignals.remove($0) }) {
            defer { EndingSignals.keep(folder) }
            try plan.run(output)
        } failed: { backup in
            // The error of the migration is the one to report.
            try? output("The migration failed. Beside the store, a copy of it is “\(backup.path)”.\n")
        }
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
                ofType: NSSQLiteStoreType, configurationName: nil, at: readable,
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
