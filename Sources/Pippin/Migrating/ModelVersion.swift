import StoreSession

/// A version of an app's models, for a ``MigrationPlan``.
///
/// ```swift
/// enum V1 {
///     struct Person: CoreModel { let id: String; var first: String; var last: String }
/// }
///
/// ModelVersion("1", models: V1.Person.self)
/// ModelVersion("Shop 2", url: Bundle.module.url(forResource: "Shop 2", withExtension: "mom", subdirectory: "Shop.momd")!)
/// ```
///
/// A store is of the version whose entities' version hashes are in the store's metadata.
public struct ModelVersion: @unchecked Sendable {
    // @unchecked Sendable: a model in `source` does not change once it is here.

    /// The version's name in errors and progress.
    public let name: String
    /// The entities of the version's structs; empty for a version given as a model.
    let registry: ModelRegistry
    private let source: ModelSource

    /// The version whose schema these structs are: copies of the structs as they were then, in a namespace of their
    /// own.
    ///
    /// - Parameters:
    ///   - name: the version's name.
    ///   - models: the models. Models within them are found automatically.
    public init<each Model: CoreModel>(_ name: String, models: repeat (each Model).Type) {
        var types: [any CoreModel.Type] = []
        repeat types.append((each Model).self)
        self.name = name
        do {
            let registry = try ModelRegistry(types)
            source = .built(try ModelBuilder.model(of: registry))
            self.registry = registry
        } catch {
            let failure = error as? PersistenceError
            source = .notDerivable(failure ?? .notDerivable(type: name, property: "", reason: "\(error)"))
            registry = ModelRegistry()
        }
    }

    package init(_ name: String, _ source: ModelSource) {
        self.name = name
        self.source = source
        registry = ModelRegistry()
    }

    /// - Throws: ``PersistenceError`` for a model that is not available.
    func model() throws -> NSManagedObjectModel { try source.model() }
}
