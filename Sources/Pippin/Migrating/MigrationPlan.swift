import StoreSession

/// How stores of older versions become stores of the newest one, over any number of versions.
///
/// ```swift
/// let plan = MigrationPlan(from: ModelVersion("1", models: V1.Person.self))
///     .inferred(to: ModelVersion("2", models: V2.Person.self))
///     .changing(to: ModelVersion("3", models: Person.self), .model(V2.Person.self, to: Person.self) { old in
///         Person(id: old.id, fullName: "\(old.first) \(old.last)")
///     })
///
/// try await manager.load(migratingBy: plan, progress: progress)
/// ```
///
/// It is for stores in files and in PostgreSQL; one in memory has no earlier version. The whole plan is checked before
/// a store is touched. Then every step makes a new store beside the old one, and the last step's store replaces the
/// original. A migration that fails, is cancelled or is interrupted by a power failure leaves the store as it was.
public struct MigrationPlan: Sendable {
    /// The versions, from the oldest to the newest.
    public private(set) var versions: [ModelVersion]
    /// The steps from each version to the next one.
    private(set) var steps: [Step] = []

    /// How to get from one version to the next.
    package enum Step: Sendable {
        case inferred
        case mapped(MappedStep)
        case changing([RecordChange])
    }

    /// A plan with one version only.
    ///
    /// - Parameter first: the oldest version of which stores exist.
    public init(from first: ModelVersion) { versions = [first] }

    /// The plan with a step that needs no more than the two versions: properties may be added, removed, renamed, made
    /// optional, or converted without loss. A model that goes with its rows is named, `Schema(.removed(entity:))`, by
    /// one of that version or a later one.
    ///
    /// - Parameter version: the version that the step leads to.
    /// - Returns: the longer plan.
    public func inferred(to version: ModelVersion) -> MigrationPlan { adding(.inferred, version) }

    /// The plan with a step in Swift: what can be inferred is migrated first, and then each object is passed to a
    /// closure in its old and its new form.
    ///
    /// - Parameters:
    ///   - version: the version that the step leads to.
    ///   - changes: what to do with the objects of some entities, in this order: a reference may lead to what an
    ///     earlier one gives. They also set the attributes whose type changes.
    /// - Returns: the longer plan.
    public func changing(to version: ModelVersion, _ changes: RecordChange...) -> MigrationPlan {
        adding(.changing(changes), version)
    }

    package func adding(_ step: Step, _ version: ModelVersion) -> MigrationPlan {
        var plan = self
        plan.versions.append(version)
        plan.steps.append(step)
        return plan
    }
}

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

extension ModelRegistry {
    /// The losses that the schemas permit.
    var reconciliationRules: ReconciliationRules {
        var rules = ReconciliationRules()
        for plan in plans {
            for fact in plan.facts {
                switch fact {
                case .removed(let property): rules.removed[plan.name, default: []].insert(property)
                case .entityRemoved(let name): rules.removedEntities.insert(name)
                case .derived(let property, let former, _):
                    if let name = property.path { rules.derived[plan.name, default: [:]][name] = former }
                case .narrowed(let property):
                    if let path = property.path { rules.narrowed[plan.name, default: []].insert(path) }
                case .notUnique(let properties):
                    rules.releasedConstraints[plan.name, default: []].append(properties.compactMap(\.path))
                default: break
                }
            }
        }
        return rules
    }
}
