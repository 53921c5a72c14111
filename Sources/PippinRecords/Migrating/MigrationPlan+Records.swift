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
    ) -> MigrationPlan {
        let step = MappedStep(mapping: mapping) { run in
            do {
                try MappedStepManager(run).makeSuccessor(
                    of: run.from, in: run.format, at: run.to, by: run.mapping, options: run.options)
            } catch { throw SharedUniqueValues(conflicts: error) ?? error }
        }
        return adding(.mapped(step), version)
    }
}

/// Migrates a step by a mapping model, and reports how far it is.
private final class MappedStepManager: NSMigrationManager {
    private let report: (Float) throws -> Void

    init(_ run: MappedRun) {
        report = run.report
        super.init(sourceModel: run.source, destinationModel: run.destination)
        definesSuccessors = false
    }

    override func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        super.associate(
            sourceInstance: sourceInstance, withDestinationInstance: destinationInstance, for: entityMapping)
        do { try report(migrationProgress) } catch { cancelMigrationWithError(error) }
    }
}

extension SharedUniqueValues {
    /// The values for which a migration failed; nil for one that failed for another reason.
    fileprivate init?(conflicts error: any Error) {
        let list = (error as NSError).userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        guard let list, let first = list.first else { return nil }
        self.init(
            entity: (first.conflictingObjects.first ?? first.databaseObject)?.entity.name ?? "",
            properties: first.constraint,
            examples: list.filter { $0.constraint == first.constraint }.map { conflict in
                conflict.constraint.map { "\(conflict.constraintValues[$0] ?? "nil")" }.joined(separator: ", ")
            }, underlying: error)
    }
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
    ///   - change: called for each object. What could be inferred of its properties has been set. It may insert further
    ///     objects into the new object's context. If it throws, the migration ends with that error.
    /// - Returns: the change, for ``MigrationPlan/changing(to:_:)``.
    public static func record(
        _ entity: String, _ change: @escaping @Sendable (_ old: NSManagedObject, _ new: NSManagedObject) throws -> Void
    ) -> RecordChange { RecordChange(source: entity, ObjectChange(body: change)) }
}

/// A change of managed objects, a portion at a time.
private struct ObjectChange: EntityChange {
    let body: @Sendable (_ old: NSManagedObject, _ new: NSManagedObject) throws -> Void

    func change(_ entity: ChangedEntity) throws {
        // They show the stores as long as they exist.
        let containers = [entity.source, entity.destination].map { NSPersistentContainer(name: "", session: $0) }
        let (old, new) = (containers[0].newBackgroundContext(), containers[1].newBackgroundContext())
        try withExtendedLifetime(containers) {
            try old.performAndWait {
                try new.performAndWait {
                    try entity.forEachPortion { try change($0, of: entity, old, new) }
                }
            }
        }
    }

    private func change(
        _ identifiers: [NSManagedObjectID], of entity: ChangedEntity, _ old: NSManagedObjectContext,
        _ new: NSManagedObjectContext
    ) throws {
        let befores = try old.objects(identifiers, of: entity.old.name)
        let afters = try new.objects(identifiers.compactMap(entity.successor(of:)), of: entity.new.name)
        for identifier in identifiers {
            guard let before = befores[identifier.key], let after = afters[identifier.key] else { continue }
            func name() -> String {
                entity.identifierKey.flatMap { before.value(forKey: $0) }.map { "\($0)" }
                    ?? identifier.uriRepresentation().absoluteString
            }
            try entity.changing(name()) { try body(before, after) }
        }
        if new.hasChanges { try new.save() }
        old.reset()
        new.reset()
    }
}

extension NSManagedObjectContext {
    /// The objects with some IDs, by their keys.
    fileprivate func objects(
        _ identifiers: [NSManagedObjectID], of entity: String
    ) throws -> [Int64: NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        request.predicate = NSPredicate(format: "SELF IN %@", argumentArray: [identifiers])
        request.includesSubentities = false
        request.returnsObjectsAsFaults = false
        return Dictionary(try fetch(request).map { ($0.objectID.key, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
