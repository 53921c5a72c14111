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
