import CoreData
import Foundation
import StoreEngine

/// A store that is only read, and stays as it is.
package final class SourceStore {
    private let place: URL
    private let type: String
    private let modelPath: String?
    private let logs: LogFiles?
    private let copy: PrivateCopy?

    /// - Parameters:
    ///   - place: the store's location, a file or a server.
    ///   - type: the type of a store on a server; nil for a file, which shows its own.
    ///   - modelPath: the path of a model with a version that fits; nil for the store's own copy.
    /// - Throws: `CommandError` for a file that is not a store, or cannot be read.
    package init(at place: URL, ofType type: String? = nil, modelPath: String? = nil) throws {
        (self.place, self.modelPath) = (place, modelPath)
        self.type = try type ?? StoreKind(of: place).type
        logs = try type == nil ? LogFiles(of: place) : nil
        copy = try type == nil ? PrivateCopy(leavingLogOf: place) : nil
    }

    private var url: URL { copy?.url ?? place }

    /// The store's own model.
    ///
    /// - Throws: `CommandError` for a store that keeps none.
    package func model() throws -> NSManagedObjectModel {
        let missing = CommandError(
            "\(place.storeName) keeps no copy of its model that can be read, which this command needs; "
                + "pippin dump, query, export and copy read the store with --model MODEL")
        guard let format = NSPersistentStoreCoordinator.migratableFormat(ofType: type), type != NSXMLStoreType,
            type != NSBinaryStoreType
        else { throw missing }
        do { return try format.sourceModel(of: url, near: nil, options: nil) } catch let error as NSError
            where error.code == NSMigrationMissingSourceModelError
        { throw missing }
    }

    /// The store, opened with its own model, or with the first version of the named one that fits, the current version
    /// being tried first.
    ///
    /// - Parameter isCopied: whether it is opened to be copied: see `StoreSettings.isCopied`.
    /// - Returns: the store, and its coordinator.
    /// - Throws: why the current version does not fit, if none does.
    package func opened(isCopied: Bool = false) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
        guard let modelPath else { return try opened(with: model(), isCopied) }
        let package = try ModelPackage(at: URL(fileURLWithPath: modelPath))
        do { return try opened(with: package.model(version: nil), isCopied) } catch {
            for version in package.versions where !package.isCurrent(version.name) {
                if let opened = try? opened(with: package.model(version: version.name), isCopied) { return opened }
            }
            throw error
        }
    }

    private func opened(
        with model: NSManagedObjectModel, _ isCopied: Bool
    ) throws -> (NSPersistentStoreCoordinator, NSPersistentStore) {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        var options: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: true, StoreSettings.isCopiedOption: isCopied,
        ]
        if copy != nil { options[ExternalDataOption.store] = place }
        let store = try coordinator.addPersistentStore(
            ofType: type, configurationName: configuration(in: model), at: url, options: options)
        return (coordinator, store)
    }

    /// The configuration that the store is of: the one with the entities of the store's version hashes; nil if it has
    /// all entities.
    private func configuration(in model: NSManagedObjectModel) -> String? {
        let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: type, at: url)
        let hashes = metadata?[NSStoreModelVersionHashesKey] as? [String: Data] ?? [:]
        guard hashes.count < model.entities.count else { return nil }
        return model.declaredConfigurations.first {
            Set((model.entities(forConfigurationName: $0) ?? []).compactMap(\.name)) == Set(hashes.keys)
        }
    }

    /// Ends the reading. Call this when the store is closed.
    package func leave() { logs?.leave() }
}

/// `pippin copy`.
package struct CopyOptions: Equatable {
    package var source: String
    package var target: String
    /// The model to read the source with; nil for the copy that it keeps.
    package var model: String?

    /// - Parameter arguments: the arguments after `copy`.
    /// - Throws: `UsageError` that says which argument is wrong.
    package init(_ arguments: [String]) throws {
        let parsed = try ParsedArguments(arguments, command: "copy", atMost: 2)
        guard parsed.paths.count == 2 else { throw UsageError("copy needs a store, and where to copy it to") }
        (source, target, model) = (parsed.paths[0], parsed.paths[1], parsed.options["--model"])
    }
}

/// `pippin copy` from a file to a file: an SQLite store is made, for those only who may read the source.
package enum CopyCommand {
    /// - Parameters:
    ///   - options: what to copy, and where to.
    ///   - output: takes what was done.
    ///   - warn: takes what the copy lacks, as a sentence without its final period.
    /// - Throws: `CommandError`, and the errors of the stores. There is no copy then.
    package static func run(
        _ options: CopyOptions, _ output: (String) throws -> Void, warn: (String) -> Void
    ) throws {
        let (source, target) = (URL(store: options.source), URL(store: options.target))
        let reading = try SourceStore(at: source, modelPath: options.model)
        defer { reading.leave() }
        let (coordinator, store) = try reading.opened(isCopied: true)
        let differences = try differences(from: store, of: coordinator)
        let draft = try StoreDraft(of: target, like: source)
        let copy = try coordinator.migratePersistentStore(
            store, to: draft.url, options: nil, withType: NSSQLiteStoreType)
        try coordinator.remove(copy)
        try draft.publish()
        try output("Copied to “\(target.path)”.\n")
        for text in differences { warn(text) }
        if let missing = try MissingFiles.text(of: target) { warn("\(missing) beside the copy, as beside the store") }
    }

    /// What a copy has otherwise than its source: what the source lacks, values that are read as something else than
    /// what the file has, and pairs that lead to no object.
    ///
    /// - Parameters:
    ///   - source: the store to be copied, open.
    ///   - coordinator: its coordinator.
    /// - Returns: a sentence for each property, without its final period.
    /// - Throws: an error for a file that cannot be read.
    package static func differences(
        from source: NSPersistentStore, of coordinator: NSPersistentStoreCoordinator
    ) throws -> [String] {
        let missing = (source.engine.inspection?.findings ?? []).map {
            "the store has \($0.text); the copy lacks what should be there"
        }
        return try missing + ValueCheck.differencesOfCopy(of: source, coordinator)
    }
}
