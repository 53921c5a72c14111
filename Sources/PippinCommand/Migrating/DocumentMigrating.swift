import CoreData
import Foundation
import StoreReading

/// `pippin migrate` for XML and binary stores: object by object, into a file that replaces the store when it is
/// complete.
enum DocumentMigrating {
    static func run(
        _ options: Invocation.MigrateOptions, _ store: URL, type: String, _ output: (String) throws -> Void
    ) throws {
        if options.mapping != nil {
            throw CommandError(
                "“\(store.path)” is no SQLite store: name the folder of its mapping models by --mappings")
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
