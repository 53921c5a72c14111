import CoreData
import SQLiteEngine

/// A store, open for reading by way of a private copy.
package struct OpenedStore {
    package let original: URL
    package let facts: FileFacts
    package let document: ModelDocument
    /// Where the model is from, as the end of a sentence.
    package let modelOrigin: String
    package let layout: ModelLayout
    package let store: NSPersistentStore
    package let coordinator: NSPersistentStoreCoordinator
    private let copy: PrivateCopy

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - modelPath: the model's path; nil for the copy that the store keeps.
    /// - Throws: an error that names the file, and what is wrong with it; `ModelCandidate.NoModel` where there is no model to
    ///   read it with.
    package init(at path: String, modelPath: String?) throws {
        original = URL(fileURLWithPath: path)
        copy = try PrivateCopy(of: original)
        facts = try FileFacts(copy: copy.url, original: original)
        var options: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: true, ExternalDataOption.store: original,
        ]
        // Without version hashes, nothing but the columns can say whether a model fits.
        if facts.versionHashes.isEmpty { options[NSIgnorePersistentStoreVersioningOption] = true }
        let candidates = try ModelCandidate.candidates(for: facts, store: original, modelPath: modelPath)
        var refusal: (any Error)?
        for read in candidates {
            do {
                let candidate = try read()
                let model = try candidate.model()
                let layout = try model.compiledLayout()
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                store = try coordinator.addPersistentStore(
                    ofType: facts.kind.type, configurationName: nil, at: copy.url, options: options)
                self.layout = layout
                self.coordinator = coordinator
                document = candidate.document
                modelOrigin = candidate.origin
                return
            } catch {
                // The current version's reason is the one to tell.
                refusal = refusal ?? error
            }
        }
        throw refusal ?? CommandError("“\(path)” cannot be opened: there is no model")
    }

    /// What is in it.
    package var objects: StoreObjects {
        StoreObjects(
            title: original.lastPathComponent, place: original.path, uuid: facts.uuid, layout: layout,
            coordinator: coordinator, store: store, isSorted: facts.kind == .sqlite)
    }

    /// How the values that are kept in files and the files fit together.
    ///
    /// - Returns: nil for a store that keeps all values itself.
    package func externalData() throws -> ExternalDataSummary? {
        guard facts.kind.type == NSSQLiteStoreType else { return nil }
        return try ExternalDataSummary(database: copy.url, store: original)
    }
}
