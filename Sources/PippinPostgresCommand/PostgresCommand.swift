import CodeGeneration
import CoreData
import CoreDataPostgres
import Foundation
import Pippin
import PippinPostgres
import PippinSync
import PostgresEngine
import PostgresStoreReading
import StoreEngine
import StoreReading
import SyncPlanning
import Synchronization

/// `pippin-postgres`: commands for stores on servers. They are not part of `pippin`, which therefore needs no `libpq`.
enum PostgresCommand {
    static let usage = """
        usage: pippin-postgres info STORE               what a store and its servers say of themselves
               pippin-postgres dump [--json] STORE [ENTITY]    the objects of a store
               pippin-postgres model extract [--force] STORE FILE    writes a store's own model (.xcdatamodeld)
               pippin-postgres query STORE QUERY        what a query finds, with the options of “pippin query”
               pippin-postgres search STORE TEXT        objects by their texts, with the options of “pippin search”
               pippin-postgres sql STORE STATEMENT      rows of a statement, with the options of “pippin sql”
               pippin-postgres export STORE ENTITY      all objects of an entity, with the options of “pippin export”
               pippin-postgres import STORE ENTITY FILE    new objects, with the options of “pippin import”
               pippin-postgres copy SOURCE TARGET       copies a store; there must be none at the target
               pippin-postgres sync STORE SERVER        a file kept in step with a server, with the options of “pippin sync”
               pippin-postgres sync-server STORE --tokens FILE    devices answered over HTTP, as “pippin sync-server” does
               pippin-postgres migrate STORE MODEL [VERSION]    brings a store to a model, or a version of it
               pippin-postgres migrate --sql STORE MODEL [VERSION]    prints the statements of that, and changes nothing
               pippin-postgres triggers STORE           prints triggers by which live queries hear of what psql changes
        A STORE is a connection string (postgresql://app@db.example/books?schema=shop), or a file.
        """

    /// An error in the arguments.
    struct Misuse: Error {}

    /// - Parameters:
    ///   - arguments: the arguments after the program's name.
    ///   - terminal: whether colours and progress are shown.
    ///   - output: writes to standard output.
    ///   - errors: writes to standard error.
    /// - Throws: ``Misuse``, `UsageError`, and the errors of the stores.
    static func run(
        _ arguments: [String], _ terminal: Terminal = .none, _ output: (String) throws -> Void,
        errors: @escaping (String) -> Void = { _ in }
    ) throws {
        _ = NSPostgreSQLStoreType
        switch (arguments.first, Array(arguments.dropFirst())) {
        case ("info"?, let rest) where rest.count == 1: try info(Place(rest[0]), output)
        case ("triggers"?, let rest) where rest.count == 1:
            let place = try Place(rest[0])
            guard place.type == NSPostgreSQLStoreType else {
                throw UsageError("triggers are for stores on servers, and “\(rest[0])” is a file")
            }
            try output(TellingTriggers.script(of: StorePlace(place.url, nil).schema) + "\n")
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
        case ("query"?, let rest):
            let options = try QueryOptions(rest)
            let store = try open(options.store, options.model, isInPlace: options.isInPlace)
            try QueryCommand.run(options, in: store, terminal, output) { warn($0, errors) }
        case ("search"?, let rest):
            let options = try SearchOptions(rest)
            let store = try open(options.store, options.model, isInPlace: options.isInPlace)
            try SearchCommand.run(options, in: store, terminal, output) { warn($0, errors) }
        case ("sql"?, let rest):
            let options = try SQLOptions(rest)
            let store = try open(options.store, options.model, isInPlace: options.isInPlace)
            try SQLCommand.run(options, in: store, terminal, output)
        case ("export"?, let rest):
            let options = try ExportOptions(rest)
            let store = try open(options.store, options.model, isInPlace: options.isInPlace)
            try QueryCommand.run(options, in: store, ProgressLine(terminal, errors), output) { warn($0, errors) }
        case ("import"?, let rest):
            let options = try ImportOptions(rest)
            let store = try open(options.store, options.model, isWritable: true)
            defer { store.close() }
            try ImportCommand.run(options, in: store, ProgressLine(terminal, errors), output)
        case ("sync"?, let rest):
            try SyncCommand.run(SyncOptions(rest), ProgressLine(terminal, errors), output)
        case ("sync-server"?, let rest): try SyncCommand.run(SyncServerOptions(rest), output)
        case ("copy"?, let rest) where rest.count >= 2: try copy(CopyOptions(rest), output, errors)
        case ("migrate"?, let rest):
            let onlySQL = rest.first == "--sql"
            let others = Array(rest.dropFirst(onlySQL ? 1 : 0))
            guard (2...3).contains(others.count) else { throw Misuse() }
            try migrate(
                Place(others[0]), others[1], version: others.dropFirst(2).first, onlySQL: onlySQL, output)
        default: throw Misuse()
        }
    }

    /// The store that `query`, `search`, `sql`, `export` and `import` name.
    private static func open(
        _ address: String, _ model: String?, isInPlace: Bool = false, isWritable: Bool = false
    ) throws -> DirectStore {
        let place = try Place(address)
        if place.type == NSPostgreSQLStoreType {
            guard !isInPlace else { throw UsageError("--in-place is for files: a store on a server is not copied") }
            return try DatabaseSource(place.url.absoluteString, model: model)
                .open(isWritable: isWritable, announcesChanges: false)
        }
        var opening = DirectStore.Opening(path: address, modelPath: model)
        (opening.readsCopy, opening.isWritable) = (!isInPlace && !isWritable, isWritable)
        return try DirectStore(opening)
    }

    /// The location of a store.
    struct Place {
        let url: URL
        let type: String

        init(_ argument: String) throws {
            if let url = URL(string: argument), url.scheme?.hasPrefix("postgres") ?? false {
                (self.url, type) = (url, NSPostgreSQLStoreType)
            } else if argument.contains("="), let url = StorePlace.url(of: argument, schema: nil) {
                (self.url, type) = (url, NSPostgreSQLStoreType)
            } else {
                (url, type) = (URL(store: argument), NSSQLiteStoreType)
            }
        }

        /// Keeps account of the files that SQLite puts beside a file, and removes them with its owner; nil for a
        /// server.
        func logFiles() throws -> LogFiles? { type == NSSQLiteStoreType ? try LogFiles(of: url) : nil }

        /// The store, to be read.
        func source(modelPath: String? = nil) throws -> SourceStore {
            if type == NSSQLiteStoreType { return try SourceStore(at: url, modelPath: modelPath) }
            guard modelPath == nil else {
                throw UsageError("--model is for files: a store on a server has its own model")
            }
            return try SourceStore(at: url, ofType: type)
        }
    }

    private static func info(_ place: Place, _ output: (String) throws -> Void) throws {
        let source = try place.source()
        defer { source.leave() }
        let (coordinator, store) = try source.opened()
        defer { try? coordinator.remove(store) }
        try output("\(place.url.withoutPassword.absoluteString)\nUUID \(store.identifier ?? "")\n")
        if place.type == NSPostgreSQLStoreType {
            for line in try ServerReport.lines(of: place.url) { try output(line + "\n") }
        }
        let devices = try store.engine.noting?.noteCount(beginningWith: SyncNote.devices) ?? 0
        if devices > 0 { try output("Sync: a server of \(TextTools.count(devices, "device"))\n") }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let model = coordinator.managedObjectModel
            let entities = model.entities(forConfigurationName: store.configurationName) ?? model.entities
            for entity in entities.sorted(by: { $0.name ?? "" < $1.name ?? "" }) {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
                request.includesSubentities = false
                try output("\(entity.name ?? ""): \(try context.count(for: request))\n")
            }
        }
    }

    private static func dump(_ place: Place, entity: String?, asJSON: Bool, _ output: (String) throws -> Void) throws {
        let source = try place.source()
        defer { source.leave() }
        let (coordinator, store) = try source.opened()
        defer { try? coordinator.remove(store) }
        let name = place.url.withoutPassword.absoluteString
        let objects = StoreObjects(
            title: name, place: name, uuid: store.identifier ?? "",
            layout: try coordinator.managedObjectModel.compiledLayout(),
            coordinator: coordinator, store: store, isSorted: true)
        let entities = try objects.entities(named: entity)
        if asJSON {
            try DumpJSON.write(objects, entities, ValueStyle(), output)
        } else {
            try DumpText.write(objects, entities, ValueStyle(), output)
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
        let source = try place.source()
        defer { source.leave() }
        let document = try ModelDocument(source.model()).withoutImpliedIndexes.withEditorDefaults
        let name = destination.deletingPathExtension().lastPathComponent
        let losses = try SourcePackageWriter.write(
            [SourcePackageWriter.Version(name: name, document: document)], current: name, to: destination)
        for loss in losses { try output("warning: the file does not say \(loss.text)\n") }
        try output("“\(path)” has \(TextTools.count(document.entities.count, "entity", "entities")).\n")
    }

    private static func copy(
        _ options: CopyOptions, _ output: (String) throws -> Void, _ errors: (String) -> Void
    ) throws {
        let (source, target) = (try Place(options.source), try Place(options.target))
        guard source.type == NSPostgreSQLStoreType || target.type == NSPostgreSQLStoreType else {
            return try CopyCommand.run(options, output) { warn($0, errors) }
        }
        let reading = try source.source(modelPath: options.model)
        defer { reading.leave() }
        let (coordinator, store) = try reading.opened(isCopied: true)
        let differences = try CopyCommand.differences(from: store, of: coordinator)
        let draft = target.type == NSSQLiteStoreType ? try StoreDraft(of: target.url, like: nil) : nil
        let copy = try coordinator.migratePersistentStore(
            store, to: draft?.url ?? target.url, options: nil, withType: target.type)
        try coordinator.remove(copy)
        try draft?.publish()
        try output("Copied to \(target.url.withoutPassword.absoluteString).\n")
        for text in differences { warn(text, errors) }
    }

    /// Says what is shown or copied otherwise than the store has it.
    private static func warn(_ sentence: String, _ errors: (String) -> Void) {
        errors("pippin-postgres: warning: \(TextTools.plainLines(sentence))\n")
    }

    private static func migrate(
        _ place: Place, _ path: String, version: String?, onlySQL: Bool, _ output: (String) throws -> Void
    ) throws {
        let model = try ModelPackage(at: URL(fileURLWithPath: path)).model(version: version)
        let logs = try place.logFiles()
        defer { logs?.leave() }
        let migration = try StoreMigration(of: place.type, at: place.url, to: model)
        switch migration.way {
        case .nothing: try output(onlySQL ? "-- nothing to do\n" : "Nothing to do.\n")
        case .inPlace(let plan, let steps) where onlySQL:
            let script =
                try place.type == NSPostgreSQLStoreType
                ? PostgresFormat.script(
                    of: InferredMigration(
                        from: migration.source, to: migration.destination, plan: plan,
                        configuration: migration.configuration), at: place.url)
                : steps.map { "\($0.sql);" }.joined(separator: "\n")
            try output(script + "\n")
        case .inPlace, .mapped:
            try migration.run()
            try output("Done.\n")
        }
    }
}
