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
/// It is for stores in SQLite; others are left to ``PersistenceManager``'s loading. The whole plan is checked before a store is touched. Then every step makes a new store beside the old one, which the last
/// step's takes the place of: a migration that fails, is cancelled or loses its power leaves the store as it was.
public struct MigrationPlan: Sendable {
    /// The versions, from the oldest to the newest.
    public private(set) var versions: [ModelVersion]
    /// How to get from each version but the last to the next one.
    private(set) var steps: [Step] = []

    /// How to get from one version to the next.
    package enum Step: Sendable {
        case inferred
        case mapped(@Sendable () throws -> NSMappingModel)
        case changing([RecordChange])
    }

    /// A plan with one version only.
    ///
    /// - Parameter first: the oldest version that there are stores of.
    public init(from first: ModelVersion) { versions = [first] }

    /// The plan, with a step that needs no more than the two versions: what was added, removed, renamed, made optional, or can be
    /// converted without loss.
    ///
    /// - Parameter version: the version to get to.
    /// - Returns: the longer plan.
    public func inferred(to version: ModelVersion) -> MigrationPlan { adding(.inferred, version) }

    /// The plan, with a step in Swift: what can be inferred is, and then each object is handed to a closure, as it was and
    /// as it is to be.
    ///
    /// - Parameters:
    ///   - version: the version to get to.
    ///   - changes: what to do with the objects of some entities. An attribute that changes its type is left to them.
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
