import CoreData
import Foundation
import StoreReading

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
