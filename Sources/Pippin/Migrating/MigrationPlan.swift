package import CoreData

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
/// It is for SQLite stores; other stores are left to ``PersistenceManager``'s loading. The whole plan is checked before
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
        case mapped(@Sendable () throws -> NSMappingModel)
        case changing([RecordChange])
    }

    /// A plan with one version only.
    ///
    /// - Parameter first: the oldest version of which stores exist.
    public init(from first: ModelVersion) { versions = [first] }

    /// The plan with a step that needs no more than the two versions: properties may be added, removed, renamed, made
    /// optional, or converted without loss.
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
