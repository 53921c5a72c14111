import CoreData
import StoreEngine

extension ModelCandidate {
    /// A store that is open with one of several models.
    struct Opened {
        let candidate: ModelCandidate
        let layout: ModelLayout
        let coordinator: NSPersistentStoreCoordinator
        let store: NSPersistentStore
    }

    /// Opens a store with the first model that fits.
    ///
    /// - Parameters:
    ///   - candidates: functions that read a model each.
    ///   - facts: what the store's file says about itself.
    ///   - url: the file to open, the store's or a copy.
    ///   - options: the options to open it with. Those that take a model which is not the store's own are added.
    /// - Returns: the open store.
    /// - Throws: why the first model does not fit, which is the current version.
    static func open(
        _ candidates: [() throws -> ModelCandidate], _ facts: FileFacts, _ url: URL, _ options: [AnyHashable: Any]
    ) throws -> Opened {
        var refusal: (any Error)?
        let options = options.merging([StoreSettings.leavesOutStrangersOption: true]) { $1 }
        for read in candidates {
            do {
                let candidate = try read()
                let model = try candidate.model()
                let layout = try model.compiledLayout()
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                let store = try coordinator.addPersistentStore(
                    ofType: facts.kind.type, configurationName: nil, at: url,
                    options: options.merging(candidate.options(for: facts)) { $1 })
                return Opened(candidate: candidate, layout: layout, coordinator: coordinator, store: store)
            } catch {
                refusal = refusal ?? error
            }
        }
        throw refusal ?? CommandError("“\(url.path)” cannot be opened: there is no model")
    }

    private func options(for facts: FileFacts) -> [AnyHashable: Any] {
        // Without version hashes, only the columns can say whether a model fits.
        guard gap != nil || facts.kind == .sqlite && facts.versionHashes.isEmpty else { return [:] }
        guard gap != nil, facts.kind != .sqlite else { return [NSIgnorePersistentStoreVersioningOption: true] }
        return [NSIgnorePersistentStoreVersioningOption: true, DocumentStore.showsAllOption: true]
    }
}
