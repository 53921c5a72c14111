import CoreData
import Pippin

// Managers of a model that you bring.
extension PersistenceManager {
    /// A manager for a compiled model in a bundle.
    ///
    /// A model that is not there is an error of `load()`.
    ///
    /// - Parameters:
    ///   - modelName: the name of the `.momd` or `.mom` without its extension; also the manager's.
    ///   - bundle: where to look, `.module` in a package's target.
    ///   - mergePolicy: how a save settles conflicts. What is being saved wins, property by property, unless you say otherwise.
    ///   - store: where the objects are kept.
    public convenience init(
        modelName: String, bundle: Bundle = .main, mergePolicy: NSMergePolicy = .mergeByPropertyObjectTrump,
        store: StoreLocation = .standard
    ) {
        self.init(.named(modelName, in: bundle), name: modelName, mergePolicy: mergePolicy, store: store)
    }

    /// A manager for a compiled model at a place of your own.
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
    ///   - bundleIdentifier: the identifier of a bundle that is loaded, such as a framework's.
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
    ///   - model: the model. It cannot be changed any more once the manager is loaded.
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
