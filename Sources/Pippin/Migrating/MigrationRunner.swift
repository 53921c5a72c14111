import CoreData
import StoreSession

/// Brings one store to the newest version of a plan.
struct MigrationRunner {
    let plan: CheckedPlan
    /// The type of the store.
    let type: String
    let url: URL
    /// The options with which the store is opened.
    let options: [AnyHashable: Any]
    let progress: Progress?

    /// Runs each step in a folder beside the store, and replaces the store's content at once at the end. Others who
    /// want to write to the store wait until then, and find that its version has changed.
    ///
    /// - Throws: ``PersistenceError``, `CancellationError` if the progress was cancelled, and Core Data's errors. The
    ///   store is then unchanged.
    func run() throws {
        guard try exists(), try needsMigration() else { return }
        try StoreFormats.migratable(ofType: type)?.succeed(
            url, options: options, failing: { $0 }
        ) { places in
            try migrate {
                try places.place(step: $0)
            } removing: {
                try places.remove($0)
            }
        }
    }

    private func exists() throws -> Bool {
        try StoreFormats.migratable(ofType: type)?.exists(at: url, options: options) ?? false
    }

    private func needsMigration() throws -> Bool {
        let (plan, start) = try adaptedPlan()
        return start < plan.steps.count
    }

    /// The plan for this store, and the index of the store's version in the plan.
    private func adaptedPlan() throws -> (plan: CheckedPlan, start: Int) {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: type, at: url, options: options)
        return try plan.adapted(to: url, ofType: type, metadata, options)
    }

    /// - Parameters:
    ///   - place: gives the URL for the store of a step.
    ///   - remove: removes the store of a step, when the next step's is made.
    /// - Returns: the migrated store; `nil` when another program has migrated the store in the meantime.
    /// - Throws: the errors of the failing step, and of the file system.
    private func migrate(
        _ place: (_ step: Int) throws -> URL, removing remove: (URL) throws -> Void
    ) throws -> URL? {
        let (plan, start) = try adaptedPlan()
        guard start < plan.steps.count else { return nil }
        progress?.totalUnitCount = Int64(plan.steps.count - start) * StepManager.units
        progress?.completedUnitCount = 0
        var current = url
        for index in start..<plan.steps.count {
            let next = try place(index + 1)
            try migrate(index, of: plan, from: current, to: next, done: Int64(index - start) * StepManager.units)
            if current != url { try remove(current) }
            current = next
        }
        try checkCancellation()
        return current
    }

    private func migrate(
        _ index: Int, of plan: CheckedPlan, from source: URL, to destination: URL, done: Int64
    ) throws {
        try checkCancellation()
        let step = plan.steps[index]
        let manager = StepManager(step, plan.plan, at: index, progress, done: done)
        do {
            try StoreFormats.migratable(ofType: type).map {
                try manager.makeSuccessor(of: source, in: $0, at: destination, by: step.mapping, options: options)
            }
        } catch {
            try checkCancellation()
            throw PersistenceError.notUnique(
                error, store: url.lastPathComponent, from: manager.from.name, to: manager.to.name) ?? error
        }
        progress?.completedUnitCount = done + StepManager.units
        manager.reset()
    }

    private func checkCancellation() throws {
        if progress?.isCancelled ?? false { throw CancellationError() }
    }
}

/// Migrates one step, and reports how far it is to a progress.
final class StepManager: NSMigrationManager {
    /// The units of a progress for one step.
    static let units: Int64 = 100

    let step: CheckedPlan.Step
    let from: ModelVersion
    let to: ModelVersion
    /// What the step's closures give along.
    lazy var given = GivenModels(destinationContext)
    private let progress: Progress?
    private let done: Int64

    init(_ step: CheckedPlan.Step, _ plan: MigrationPlan, at index: Int, _ progress: Progress?, done: Int64) {
        self.step = step
        from = plan.versions[index]
        to = plan.versions[index + 1]
        self.progress = progress
        self.done = done
        super.init(sourceModel: step.source, destinationModel: step.destination)
        usesStoreSpecificMigrationManager = !step.isByObject
        definesSuccessors = false
    }

    override func associate(
        sourceInstance: NSManagedObject, withDestinationInstance destinationInstance: NSManagedObject,
        for entityMapping: NSEntityMapping
    ) {
        super.associate(
            sourceInstance: sourceInstance, withDestinationInstance: destinationInstance, for: entityMapping)
        guard let progress else { return }
        progress.completedUnitCount = done + Int64(migrationProgress * Float(Self.units))
        if progress.isCancelled { cancelMigrationWithError(CancellationError()) }
    }
}

/// Passes objects to a plan's closures.
final class ChangePolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard let manager = manager as? StepManager, let name = mapping.name, let change = manager.step.changes[name]
        else { return }
        for new in manager.destinationInstances(forEntityMappingName: name, sourceInstances: [sInstance]) {
            try manager.changing(sInstance, to: new) { try change.change($0) }
        }
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        guard let manager = manager as? StepManager, let name = mapping.name,
            let connect = manager.step.changes[name]?.connect,
            let old = manager.sourceInstances(forEntityMappingName: name, destinationInstances: [dInstance]).first
        else { return }
        try manager.changing(old, to: dInstance) { try connect($0, manager.given) }
    }
}

extension StepManager {
    /// Hands a pair of objects to what changes them, and names the object where that fails.
    fileprivate func changing(
        _ old: NSManagedObject, to new: NSManagedObject, _ change: (RecordChange.Pair) throws -> Void
    ) throws {
        let pair = RecordChange.Pair(old: old, new: new, oldRegistry: from.registry, newRegistry: to.registry)
        do { try change(pair) } catch {
            let key = from.registry.plans.first { $0.name == old.entity.name }?.uidKey
            let uid = key.flatMap { old.value(forKey: $0) }
            throw PersistenceError.failedAt(
                entity: old.entity.name ?? "",
                record: uid.map { "\($0)" } ?? old.objectID.uriRepresentation().absoluteString,
                from: from.name, to: to.name, reason: error is EncodingError ? error.encodingReason : error.message)
        }
    }
}

extension NSPersistentStoreDescription {
    /// Whether a plan can migrate stores of this type.
    var isMigrated: Bool {
        StoreFormats.migratable(ofType: type) != nil
    }
}

// A plan only knows the entities of its versions. A store may have more, of other programs, which are migrated
// along.
extension CheckedPlan {
    /// The plan for a store, and the version of the store.
    ///
    /// - Throws: ``PersistenceError/Code/unknownStoreVersion``, and the errors of opening a store.
    func adapted(
        to url: URL, ofType type: String, _ metadata: [String: Any], _ options: [AnyHashable: Any]
    ) throws -> (plan: CheckedPlan, start: Int) {
        for index in models.indices.reversed() {
            if models[index].isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) {
                return (self, index)
            }
        }
        for index in models.indices.reversed() {
            guard
                let store = try StoreFormats.migratable(ofType: type)?.reconciliation(
                    at: url, program: models[index], rules: ReconciliationRules(), options: options),
                !store.isMigrationNeeded, store.reconciliation.losses.isEmpty,
                !store.reconciliation.leftAlone.isEmpty
            else { continue }
            return (try carrying(store, from: index), index)
        }
        throw PersistenceError.unknownStoreVersion(
            store: url.lastPathComponent, known: plan.versions.map(\.name))
    }

    /// The plan, with the store's additional entities in each version from its own on.
    private func carrying(_ store: any ReconcilableStore, from start: Int) throws -> CheckedPlan {
        var extended = models
        var document = store.reconciliation.model
        extended[start] = store.model
        for index in models.indices.dropFirst(start + 1) {
            let former = try ModelDocument(models[index - 1])
            let present = try ModelDocument(models[index])
            // An entity that the previous version had and this one lacks was removed by the plan, and is not
            // another program's.
            let names = ModelReconciliation(program: present, stored: former, rules: ReconciliationRules())
            let kept = Set(present.entities.compactMap { names.formerName(ofEntity: $0.name) })
            var rules = ReconciliationRules()
            rules.removedEntities = Set(former.entities.map(\.name)).subtracting(kept)
            document = ModelReconciliation(program: present, stored: document, rules: rules).model
            let hashes = store.model.entities.compactMap { entity in
                entity.recordedVersionHash.map { (entity.name ?? "", $0) }
            }
            extended[index] = try ModelAssembler.model(
                document, versionHashes: Dictionary(hashes, uniquingKeysWith: { first, _ in first }))
        }
        return try CheckedPlan(plan, over: extended, carrying: Set(store.reconciliation.leftAlone))
    }
}

extension PersistenceError {
    /// The error for a step after which models would share values that must be unique.
    ///
    /// - Returns: the error; nil if the step failed for another reason.
    fileprivate static func notUnique(_ error: any Error, store: String, from: String, to: String) -> PersistenceError? {
        let cocoa = error as NSError
        let step = "The step from version '\(from)' to '\(to)' would leave"
        let advice =
            "Have a step `changing(to:)` make them different, or change the store with a manager of version '\(from)'. "
            + "The store is as it was."
        if let conflicts = cocoa.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict],
            let first = conflicts.first
        {
            let entity = (first.conflictingObjects.first ?? first.databaseObject)?.entity.name ?? ""
            let properties = first.constraint.joined(separator: ", ")
            let examples = conflicts.filter { $0.constraint == first.constraint }.prefix(5).map { conflict in
                conflict.constraint.map { "\(conflict.constraintValues[$0] ?? "nil")" }.joined(separator: ", ")
            }
            return PersistenceError(
                .notUnique, entity: entity, property: properties, path: store, known: examples, underlying: error,
                "\(step) several '\(entity)' with the same \(properties), which is to be unique: "
                    + "\(examples.joined(separator: "; ")). \(advice)")
        }
        guard cocoa.domain == NSCocoaErrorDomain, cocoa.code == NSMigrationConstraintViolationError else { return nil }
        let reason = (cocoa.userInfo[NSUnderlyingErrorKey] as? NSError ?? cocoa).localizedDescription
        return PersistenceError(
            .notUnique, path: store, reason: reason, underlying: error,
            "\(step) models with the same values where these are to be unique. \(reason) \(advice)")
    }
}
