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

    /// The entities to show: all, or the named one and those that inherit from it.
    ///
    /// - Throws: `CommandError` naming the entities that there are.
    package func entities(named name: String?) throws -> [EntityLayout] {
        guard let name else { return layout.entities }
        guard let entity = layout.entityByName[name] else {
            let known = layout.entities.map(\.name).joined(separator: ", ")
            throw CommandError("“\(original.path)” has no entity “\(name)”; it has \(known)")
        }
        return entity.selfAndSubentities
    }

    /// How many objects an entity has, those of its subentities left out.
    package func count(of entity: EntityLayout) throws -> Int {
        if entity.isAbstract { return 0 }
        return try coordinator.performAndWait { () throws in try store.engine.fetchCount(plan(entity)) }
    }

    /// How the values that are kept in files and the files fit together.
    ///
    /// - Returns: nil for a store that keeps all values itself.
    package func externalData() throws -> ExternalDataSummary? {
        guard facts.kind.type == NSSQLiteStoreType else { return nil }
        return try ExternalDataSummary(database: copy.url, store: original)
    }

    /// What fetches the objects of an entity, those of its subentities left out.
    package func plan(_ entity: EntityLayout) -> FetchPlan {
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        return plan
    }
}
