/// The versions of a program's models, and the steps from each to the next.
///
/// ```swift
/// enum LibraryPlan: SchemaMigrationPlan {
///     static var schemas: [any VersionedSchema.Type] { [LibraryV1.self, LibraryV2.self] }
///     static var stages: [MigrationStage] { [.lightweight(fromVersion: LibraryV1.self, toVersion: LibraryV2.self)] }
/// }
/// ```
public protocol SchemaMigrationPlan: SendableMetatype {
    /// The versions, the oldest first.
    static var schemas: [any VersionedSchema.Type] { get }
    /// The steps, in order.
    static var stages: [MigrationStage] { get }
}

/// A step from one version of a program's models to the next.
public enum MigrationStage: Sendable {
    /// A step without code: properties and classes are added, removed or renamed.
    case lightweight(fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type)

    /// A step with code before and after it.
    ///
    /// `willMigrate` sees the classes of the earlier version, `didMigrate` those of the later one. What they change is
    /// saved when they return. All steps are made on a copy of the store, which takes its place afterwards: after an
    /// error, or the end of the process, the store is as it was, and the next container begins anew.
    @preconcurrency
    case custom(
        fromVersion: any VersionedSchema.Type, toVersion: any VersionedSchema.Type,
        willMigrate: (@Sendable (_ context: ModelContext) throws -> Void)?,
        didMigrate: (@Sendable (_ context: ModelContext) throws -> Void)?)
}
