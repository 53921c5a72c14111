import CoreData

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
/// A store is of the version whose entities have the version hashes that are in the store's metadata.
public struct ModelVersion: @unchecked Sendable {
    // @unchecked Sendable: a model in `source` does not change any more once it is here.

    /// What the version is called, in errors and progress.
    public let name: String
    /// The entities of the version's structs; empty for a version that is a model.
    let registry: ModelRegistry
    private let source: ModelSource

    /// The version that these structs are the schema of: structs as they were then, in a namespace of their own.
    ///
    /// - Parameters:
    ///   - name: what the version is called.
    ///   - models: the models; those within them are found by themselves.
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

    /// - Throws: ``PersistenceError`` for one that cannot be had.
    func model() throws -> NSManagedObjectModel { try source.model() }
}
