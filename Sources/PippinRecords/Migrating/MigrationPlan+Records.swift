import CoreData
import Pippin

// Steps of a migration by mapping models, and by records.
extension MigrationPlan {
    /// The plan, with a step by a mapping model, with its migration policies.
    ///
    /// - Parameters:
    ///   - version: the version to get to.
    ///   - mapping: gives the mapping model when the plan is checked.
    /// - Returns: the longer plan.
    public func mapped(
        to version: ModelVersion, by mapping: @escaping @Sendable () throws -> NSMappingModel
    ) -> MigrationPlan { adding(.mapped(mapping), version) }
}

extension ModelVersion {
    /// The version that a model describes.
    ///
    /// - Parameters:
    ///   - name: what the version is called.
    ///   - model: the model. It cannot be changed any more.
    public init(_ name: String, model: NSManagedObjectModel) { self.init(name, .built(model)) }

    /// The version that a compiled model describes.
    ///
    /// - Parameters:
    ///   - name: what the version is called.
    ///   - url: a `.mom` file. A `.momd` folder stands for its current version.
    public init(_ name: String, url: URL) { self.init(name, .file(url)) }
}

extension RecordChange {
    /// A closure over the old and the new record.
    ///
    /// ```swift
    /// .record("Person") { old, new in
    ///     new.setValue("\(old.value(forKey: "first") ?? "") \(old.value(forKey: "last") ?? "")", forKey: "fullName")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - entity: the name of the entity before the step.
    ///   - change: called for each object, whose attributes have been taken over as far as that could be inferred; relationships
    ///     follow later. It may insert further objects into the new one's context. What it throws ends the migration.
    /// - Returns: the change, for ``MigrationPlan/changing(to:_:)``.
    public static func record(
        _ entity: String, _ change: @escaping @Sendable (_ old: NSManagedObject, _ new: NSManagedObject) throws -> Void
    ) -> RecordChange { RecordChange(source: entity) { try change($0.old, $0.new) } }
}
