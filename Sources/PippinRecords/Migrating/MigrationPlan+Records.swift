import CoreData
import Pippin

// Steps of a migration by mapping models, and by records.
extension MigrationPlan {
    /// The plan with a step by a mapping model, including its migration policies.
    ///
    /// - Parameters:
    ///   - version: the version that the step leads to.
    ///   - mapping: returns the mapping model when the plan is checked.
    /// - Returns: the longer plan.
    public func mapped(
        to version: ModelVersion, by mapping: @escaping @Sendable () throws -> NSMappingModel
    ) -> MigrationPlan { adding(.mapped(mapping), version) }
}

extension ModelVersion {
    /// The version that a model describes.
    ///
    /// - Parameters:
    ///   - name: the version's name.
    ///   - model: the model. It cannot be changed any more.
    public init(_ name: String, model: NSManagedObjectModel) { self.init(name, .built(model)) }

    /// The version that a compiled model describes.
    ///
    /// - Parameters:
    ///   - name: the version's name.
    ///   - url: a `.mom` file, or a `.momd` folder, whose current version is used.
    public init(_ name: String, url: URL) { self.init(name, .file(url)) }
}

extension RecordChange {
    /// A change from the old record to the new one.
    ///
    /// ```swift
    /// .record("Person") { old, new in
    ///     new.setValue("\(old.value(forKey: "first") ?? "") \(old.value(forKey: "last") ?? "")", forKey: "fullName")
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - entity: the name of the entity before the step.
    ///   - change: called for each object. Its attributes have been set as far as they could be inferred; relationships
    ///     are set later. It may insert further objects into the new object's context. If it throws, the migration ends
    ///     with that error.
    /// - Returns: the change, for ``MigrationPlan/changing(to:_:)``.
    public static func record(
        _ entity: String, _ change: @escaping @Sendable (_ old: NSManagedObject, _ new: NSManagedObject) throws -> Void
    ) -> RecordChange { RecordChange(source: entity) { try change($0.old, $0.new) } }
}
