import CoreData
import CoreDataPostgres
import Foundation
import PostgresEngine
import PostgresMigration
import StoreReading

/// `pippin-postgres`: what is done with stores on servers, apart from `pippin` so that this needs no `libpq`.
enum PostgresCommand {
    static let usage = """
        usage: pippin-postgres info STORE               what a store and its servers say of themselves
               pippin-postgres dump [--json] STORE [ENTITY]    the objects of a store
               pippin-postgres model extract [--force] STORE FILE    writes a store's own model (.xcdatamodeld)
               pippin-postgres copy SOURCE TARGET       copies a store; there must be none at the target
               pippin-postgres migrate STORE MODEL      brings a store to the current version of a model
               pippin-postgres migrate --sql STORE MODEL    prints the statements of that, and changes nothing
        A STORE is a connection string (postgresql://app@db.example/books?schema=shop), or a file.
        """

    /// What is wrong with the arguments.
    struct Misuse: Error {}

    /// - Parameters:
    ///   - arguments: what stands behind the name of the program.
    ///   - output: writes to standard output.
    /// - Throws: ``Misuse``, and the errors of the stores.
    static func run(_ arguments: [String], _ output: (String) throws -> Void) throws {
        _ = NSPostgreSQLStoreType
        switch (arguments.first, Array(arguments.dropFirst())) {
        case ("info"?, let rest) where rest.count == 1: try info(Place(rest[0]), output)
        case ("dump"?, let rest):
            let asJSON = rest.first == "--json"
            let others = asJSON ? Array(rest.dropFirst()) : rest
            guard (1...2).contains(others.count) else { throw Misuse() }
            try dump(Place(others[0]), entity: others.dropFirst().first, asJSON: asJSON, output)
        case ("model"?, let rest) where rest.first == "extract":
            let isForced = rest.dropFirst().first == "--force"
            let others = Array(rest.dropFirst(isForced ? 2 : 1))
            guard others.count == 2 else { throw Misuse() }
            try extract(Place(others[0]), to: others[1], isForced: isForced, output)
        case ("copy"?, let rest) where rest.count == 2: try copy(Place(rest[0]), Place(rest[1]), output)
        case ("migrate"?, let rest) where rest.count == 2: try migrate(Place(rest[0]), rest[1], onlySQL: false, output)
        case ("migrate"?, let rest) where rest.count == 3 && rest[0] == "--sql":
            try migrate(Place(rest[1]), rest[2], onlySQL: true, output)
        default: throw Misuse()
        }
    }

    /// Where a store is.
    struct Place {
        let url: URL
        let type: String

        init(_ argument: String) throws {
            if let url = URL(string: argument), url.scheme?.hasPrefix("postgres") ?? false {
                (self.url, type) = (url, NSPostgreSQLStoreType)
            } else if argument.contains("="), let url = StorePlace.url(of: argument, schema: nil) {
                (self.url, type) = (url, NSPostgreSQLStoreType)
            } else {
                (url, type) = (URL(fileURLWithPath: argument), NSSQLiteStoreType)
            }
        }

        /// The store's own model.
        func model() throws -> NSManagedObjectModel {
            guard let format = NSPersistentStoreCoordinator.migratableFormat(ofType: type) else { throw Misuse() }
            return try format.sourceModel(of: url, near: nil, options: nil)
        }

        func coordinator(readOnly: Bool) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: try model())
            let store = try coordinator.addPersistentStore(
                ofType: type, configurationName: nil, at: url,
                options: readOnly ? [NSReadOnlyPersistentStoreOption: true] : nil)
            return (coordinator, store)
        }
    }

    private static func info(_ place: Place, _ output: (String) throws -> Void) throws {
        let (coordinator, store) = try place.coordinator(readOnly: true)
        try output("\(place.url.withoutPassword.absoluteString)\nUUID \(store.identifier ?? "")\n")
        if place.type == NSPostgreSQLStoreType {
            for line in try ServerReport.lines(of: place.url) { try output(line + "\n") }
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for entity in coordinator.managedObjectModel.entities.sorted(by: { $0.name ?? "" < $1.name ?? "" }) {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.includesSubentities = false
                try output("\(entity.name ?? ""): \(try context.count(for: request))\n")
            }
        }
    }

    private static func dump(_ place: Place, entity: String?, asJSON: Bool, _ output: (String) throws -> Void) throws {
        let (coordinator, store) = try place.coordinator(readOnly: true)
        let name = place.url.withoutPassword.absoluteString
        let objects = StoreObjects(
            title: name, place: name, uuid: store.identifier ?? "",
            layout: try coordinator.managedObjectModel.compiledLayout(),
            coordinator: coordinator, store: store, isSorted: true)
        let entities = try objects.entities(named: entity)
        if asJSON {
            try DumpJSON.write(objects, entities, output)
        } else {
            try DumpText.write(objects, entities, output)
        }
    }

    /// Writes the model that a store keeps as a source model, which Xcode and the plugin read.
    private static func extract(
        _ place: Place, to path: String, isForced: Bool, _ output: (String) throws -> Void
    ) throws {
        let destination = URL(fileURLWithPath: path)
        guard isForced || !FileManager.default.fileExists(atPath: path) else {
            throw CommandError("“\(path)” is there already; --force replaces it")
        }
        let document = try ModelDocument(place.model()).withoutImpliedIndexes.withEditorDefaults
        let name = destination.deletingPathExtension().lastPathComponent
        let losses = try SourcePackageWriter.write(
            [SourcePackageWriter.Version(name: name, document: document)], current: name, to: destination)
        for loss in losses { try output("warning: the file does not say \(loss.text)\n") }
        try output("“\(path)” has \(TextTools.count(document.entities.count, "entity", "entities")).\n")
    }

    private static func copy(_ source: Place, _ target: Place, _ output: (String) throws -> Void) throws {
        let (coordinator, store) = try source.coordinator(readOnly: true)
        _ = try coordinator.migratePersistentStore(store, to: target.url, options: nil, withType: target.type)
        try output("Copied to \(target.url.withoutPassword.absoluteString).\n")
    }

    private static func migrate(
        _ place: Place, _ path: String, onlySQL: Bool, _ output: (String) throws -> Void
    ) throws {
        let migration = try StoreMigration(of: place.type, at: place.url, to: model(at: path))
        switch migration.way {
        case .nothing: try output(onlySQL ? "-- nothing to do\n" : "Nothing to do.\n")
        case .inPlace(_, let steps) where onlySQL:
            let script =
                try place.type == NSPostgreSQLStoreType
                ? MigrationScript.text(steps, of: StorePlace(place.url, nil))
                : steps.map { "\($0.sql);" }.joined(separator: "\n")
            try output(script + "\n")
        case .inPlace, .mapped:
            try migration.run()
            try output("Done.\n")
        }
    }

    /// The current version of a model, compiled or source.
    private static func model(at path: String) throws -> NSManagedObjectModel {
        let url = URL(fileURLWithPath: path)
        if let model = NSManagedObjectModel(contentsOf: url) { return model }
        // What reads the file says why it cannot be read.
        let package = try ModelPackage(at: url)
        _ = try package.document(version: package.currentVersionName)
        throw CommandError("“\(path)” has no model that can be read")
    }
}
