import CoreData
import Pippin

// Managers for your own model files.
extension PersistenceManager {
    /// A manager for a compiled model in a bundle.
    ///
    /// If the model is missing, `load()` throws.
    ///
    /// - Parameters:
    ///   - modelName: the name of the `.momd` or `.mom` without its extension; also the manager's.
    ///   - bundle: the bundle with the model; `.module` in a package's target.
    ///   - mergePolicy: how a save settles conflicts. By default, the saved changes win, property by property.
    ///   - store: where the objects are kept.
    public convenience init(
        modelName: String, bundle: Bundle = .main, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation = .standard
    ) {
        self.init(.named(modelName, in: bundle), name: modelName, mergePolicy: mergePolicy, store: store)
    }

    /// A manager for a compiled model at a URL of your own.
    ///
    /// - Parameters:
    ///   - modelURL: a `.momd` folder or a `.mom` file. Its name without the extension is the manager's.
    ///   - mergePolicy: how a save settles conflicts.
    ///   - store: where the objects are kept.
    public convenience init(
        modelURL: URL, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump, store: StoreLocation = .standard
    ) {
        let name = modelURL.deletingPathExtension().lastPathComponent
        self.init(.file(modelURL), name: name, mergePolicy: mergePolicy, store: store)
    }

    /// A manager for a compiled model in the bundle with that identifier.
    ///
    /// - Parameters:
    ///   - bundleIdentifier: the identifier of a loaded bundle, such as a framework's.
    ///   - modelName: the name of the `.momd` or `.mom` without its extension.
    ///   - mergePolicy: how a save settles conflicts.
    ///   - store: where the objects are kept.
    public convenience init(
        bundleIdentifier: String, modelName: String, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation = .standard
    ) {
        let source = ModelSource.namedInBundle(modelName, identifier: bundleIdentifier)
        self.init(source, name: modelName, mergePolicy: mergePolicy, store: store)
    }

    /// A manager for a model that was built in code.
    ///
    /// - Parameters:
    ///   - model: the model. It cannot be changed once the manager is loaded.
    ///   - name: the manager's name, and the default store's.
    ///   - mergePolicy: how a save settles conflicts.
    ///   - store: where the objects are kept.
    public convenience init(
        model: NSManagedObjectModel, name: String, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation = .standard
    ) {
        self.init(.built(model), name: name, mergePolicy: mergePolicy, store: store)
    }

    /// How a save settles conflicts, in every context that the manager hands out.
    public var mergePolicy: NSMergePolicy { objectMergePolicy }
}
