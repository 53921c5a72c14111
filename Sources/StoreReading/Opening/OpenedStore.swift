import CoreData
import SQLiteEngine

/// A store opened for reading through a private copy.
package struct OpenedStore {
    package let original: URL
    package let facts: FileFacts
    package let document: ModelDocument
    /// The origin of the model, as the end of a sentence.
    package let modelOrigin: String
    /// What is not known since the store's own model is not there; see `ModelCandidate.gap`.
    package let modelGap: String?
    package let layout: ModelLayout
    package let store: NSPersistentStore
    package let coordinator: NSPersistentStoreCoordinator
    let copy: PrivateCopy

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - path: the store's path.
    ///   - modelPath: the model's path; nil for the store's own copy.
    ///   - isDamaged: whether damage was found in its pages, so that what can be read is shown.
    /// - Throws: an error that names the file and its defect; `ModelCandidate.NoModel` if there is no model to read it
    ///   with.
    package init(at path: String, modelPath: String?, isDamaged: Bool = false) throws {
        original = URL(store: path)
        copy = try PrivateCopy(of: original)
        facts = try FileFacts(salvaging: copy, original: original, isDamaged: isDamaged)
        let options = CarefulReading.options.merging(
            [NSReadOnlyPersistentStoreOption: true, ExternalDataOption.store: original]
        ) { $1 }
        let candidates = try ModelCandidate.candidates(
            for: facts, store: original, file: copy.url, modelPath: modelPath)
        let opened = try ModelCandidate.open(candidates, facts, copy.url, options)
        (layout, coordinator, store) = (opened.layout, opened.coordinator, opened.store)
        (document, modelOrigin) = (opened.candidate.document, opened.candidate.origin)
        modelGap = opened.candidate.gap
    }

    /// What cannot be read of a damaged store, as a sentence without its final period; nil for an intact one.
    package var damage: String? { copy.damage }

    /// The objects of the store.
    package var objects: StoreObjects {
        StoreObjects(
            title: original.lastPathComponent, place: original.path, uuid: facts.uuid, layout: layout,
            coordinator: coordinator, store: store, isSorted: facts.kind == .sqlite)
    }

    /// The rows that are of no entity, and are left out, as sentences without their final periods.
    ///
    /// - Throws: an error for a file that cannot be read.
    package func strangeRows() throws -> [String] {
        guard facts.kind == .sqlite else { return [] }
        let roots = layout.entities.filter { $0.superentity == nil }
        return try StrangeRows.texts(of: roots, in: layout, coordinator.managedObjectModel, copy.url)
    }

    /// Compares the values in external files with the existing files.
    ///
    /// - Returns: nil for a store that keeps all values itself.
    package func externalData() throws -> ExternalDataSummary? {
        guard facts.kind.type == NSSQLiteStoreType else { return nil }
        return try ExternalDataSummary(database: copy.url, store: original)
    }
}
