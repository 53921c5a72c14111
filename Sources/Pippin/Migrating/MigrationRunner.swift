package import StoreSession

/// Brings one store to the newest version of a plan.
struct MigrationRunner {
    let plan: CheckedPlan
    let format: any MigratableFormat.Type
    let url: URL
    /// How the store is opened.
    let description: NSPersistentStoreDescription
    let progress: Progress?

    private var options: [AnyHashable: Any] { description.options }

    /// Runs each step in a folder beside the store, and replaces the store's content at once at the end. Others who
    /// want to write to the store wait until then, and find that its version has changed.
    ///
    /// - Throws: ``PersistenceError``, `CancellationError` if the progress was cancelled, and the store's errors. The
    ///   store is then unchanged.
    func run() throws {
        guard try format.exists(at: url, options: options), try needsMigration() else { return }
        try format.succeed(url, options: options, failing: { $0 }) { places in
            try migrate {
                try places.place(step: $0)
            } removing: {
                try places.remove($0)
            }
        }
    }

    private func needsMigration() throws -> Bool {
        let (plan, start) = try adaptedPlan()
        return start < plan.steps.count
    }

    /// The plan for this store, and the index of the store's version in the plan.
    private func adaptedPlan() throws -> (plan: CheckedPlan, start: Int) {
        try plan.adapted(to: url, of: format, format.metadata(at: url, options: options), options)
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
        let losses = try removedTypes(of: plan, from: start)
        guard losses.isEmpty else {
            throw PersistenceError.wouldLose(store: url.lastPathComponent, losses: losses)
        }
        progress?.totalUnitCount = Int64(plan.steps.count - start) * StepProgress.units
        progress?.completedUnitCount = 0
        var current = url
        for index in start..<plan.steps.count {
            let next = try place(index + 1)
            try migrate(index, of: plan, from: current, to: next, done: Int64(index - start) * StepProgress.units)
            if current != url { try remove(current) }
            current = next
        }
        if progress?.isCancelled ?? false { throw CancellationError() }
        return current
    }

    /// The types of the store that a step would remove with their rows, though no schema names them.
    private func removedTypes(of plan: CheckedPlan, from start: Int) throws -> [StoreLoss] {
        let removals = plan.unnamedRemovals(from: start)
        guard !removals.isEmpty else { return [] }
        let (model, version) = (plan.models[start], plan.plan.versions[start])
        let session = try StepRun.open(url, model, like: description, of: format) { $0.isReadOnly = true }
        defer { StepRun.close(session) }
        return try removals.compactMap { removal in
            guard let layout = session.modelLayout.entityByName[removal.entity] else { return nil }
            var rows = FetchPlan(entity: layout)
            rows.includesSubentities = false
            let count = try session.fetchCount(rows, stores: nil)
            guard count > 0 else { return nil }
            return StoreLoss(
                entity: removal.entity, property: nil, rows: count,
                reason: "Version '\(version.name)' has it, and version '\(removal.version)' has not.",
                advice:
                    "Write Schema(.removed(entity: \"\(removal.entity)\")) in a model of version '\(removal.version)' to let it "
                    + "go, or name it in that version to keep it.")
        }
    }

    private func migrate(
        _ index: Int, of plan: CheckedPlan, from source: URL, to destination: URL, done: Int64
    ) throws {
        let step = plan.steps[index]
        let (from, to) = (plan.plan.versions[index], plan.plan.versions[index + 1])
        let progress = StepProgress(progress, after: done)
        try progress.check()
        let work = StepRun(
            step: step, format: format, source: source, destination: destination, description: description,
            from: from, to: to, progress: progress)
        do { try work.run() } catch {
            try progress.check()
            throw PersistenceError.notUnique(
                error, store: url.lastPathComponent, from: from.name, to: to.name) ?? error
        }
        progress.finish()
    }
}

/// A step of a plan, which makes a store of the next version beside the one that there is.
private struct StepRun {
    let step: CheckedPlan.Step
    let format: any MigratableFormat.Type
    let source: URL
    let destination: URL
    let description: NSPersistentStoreDescription
    let from: ModelVersion
    let to: ModelVersion
    let progress: StepProgress

    /// The options for the stores of a step.
    private var options: [AnyHashable: Any] { StoreMigrationOptions.unobserved(description.options) }

    func run() throws {
        switch step.way {
        case .inferred(let plan):
            try copy()
            do { try migrate(from: step.source, to: step.destination, plan) } catch {
                throw sharedValues(error, in: source) ?? error
            }
        case .mapped(let mapping, let mapped):
            try mapped.run(
                MappedRun(
                    source: step.source, destination: step.destination, mapping: mapping, format: format,
                    from: source, to: destination, options: description.options
                ) { [progress] in try progress.advance(to: $0) })
        case .changing(let changing):
            try copy()
            try migrate(from: step.source, to: changing.loosened, changing.loosening)
            try change(changing)
            do {
                try migrate(
                    from: changing.loosened, to: step.destination, MappingInference.plan(keeping: step.destination))
            } catch { throw sharedValues(error, in: destination) ?? error }
        }
    }

    private func copy() throws {
        format.protect(destination, like: source)
        try format.replace(at: destination, from: source, options: options, sourceOptions: options)
    }

    private func migrate(
        from source: NSManagedObjectModel, to model: NSManagedObjectModel, _ plan: MappingPlan
    ) throws {
        try progress.check()
        let migration = InferredMigration(
            from: source, to: model, plan: plan,
            configuration: PlainModel.keptConfiguration(
                from: source, to: model, ofStoreWith: try format.metadata(at: destination, options: options)))
        try format.migrate(
            destination, by: migration, options: options, defersCleanup: false, progress: { _ in })
    }

    // MARK: Closures

    /// Runs the closures of a step, in one transaction.
    private func change(_ changing: ChangingStep) throws {
        let old = try Self.open(source, step.source, like: description, of: format) { $0.isReadOnly = true }
        defer { Self.close(old) }
        let new = try Self.open(destination, changing.loosened, like: description, of: format) {
            $0.setOption(true as NSNumber, forKey: StoreSettings.leavesHistoryOption)
        }
        defer { Self.close(new) }
        let entities = try changing.changes.map {
            try ChangedEntity(($0.change.source, $0.destination), from: (from, old), to: (to, new), progress)
        }
        progress.total = 2 * entities.reduce(0) { $0 + $1.count }
        let transaction = new.onlyStore?.engine.longTransactions
        try transaction?.beginLongTransaction(makesIndexesLater: false)
        do {
            for (change, entity) in zip(changing.changes, entities) { try change.change.work.change(entity) }
            for (change, entity) in zip(changing.changes, entities) { try change.change.work.connect(entity) }
            try transaction?.endLongTransaction(commits: true)
        } catch {
            // The step's error is the one to report; a transaction that is still open ends with its connection.
            try? transaction?.endLongTransaction(commits: false)
            throw error
        }
    }

    /// The values because of which the rows do not fit the next version; nil if they do not fit for another reason.
    ///
    /// - Parameters:
    ///   - error: the error of the step.
    ///   - place: the rows: those before the step where it changes none, since a server's transaction has failed.
    /// - Returns: the values, and how many rows have each.
    private func sharedValues(_ error: any Error, in place: URL) -> SharedUniqueValues? {
        guard (error as NSError).code == NSMigrationConstraintViolationError else { return nil }
        // The error is a good one without the examples, too.
        let found = try? format.reconciliation(
            at: place, program: step.destination, rules: ReconciliationRules(), options: options)?
            .sharedValues(limit: 5).first
        return found.map { shared in
            SharedUniqueValues(
                entity: shared.entity, properties: shared.constraint,
                examples: shared.texts, underlying: error)
        }
    }

    /// Opens a store with a model, as the description says it is opened otherwise.
    static func open(
        _ url: URL, _ model: NSManagedObjectModel, like description: NSPersistentStoreDescription,
        of format: any MigratableFormat.Type, _ adapt: (NSPersistentStoreDescription) -> Void
    ) throws -> StoreSession {
        let options = StoreMigrationOptions.unobserved(description.options)
        let plain = PlainModel.make(of: model)
        let opened = NSPersistentStoreDescription(url: url)
        opened.type = description.type
        let kept = Set(options.keys.compactMap { $0.base as? String })
        for key in opened.options.keys { opened.setOption(nil, forKey: key) }
        for (key, value) in description.options where kept.contains(key) { opened.setOption(value, forKey: key) }
        opened.configuration = PlainModel.addConfiguration(
            to: plain, ofStoreWith: try format.metadata(at: url, options: options))
        adapt(opened)
        let session = StoreSession(plain)
        try session.open(opened)
        return session
    }

    static func close(_ session: StoreSession) {
        // Fails only for a store that was removed.
        for store in session.openStores { try? session.remove(store) }
    }
}

/// A step by a mapping model, which the layer with managed objects runs.
package struct MappedStep: Sendable {
    package typealias Run = @Sendable (MappedRun) throws -> Void
    /// Returns the mapping model.
    let mapping: @Sendable () throws -> NSMappingModel
    let run: Run

    package init(mapping: @escaping @Sendable () throws -> NSMappingModel, run: @escaping Run) {
        (self.mapping, self.run) = (mapping, run)
    }
}

/// What a step by a mapping model needs.
package struct MappedRun {
    package let source: NSManagedObjectModel
    package let destination: NSManagedObjectModel
    package let mapping: NSMappingModel
    package let format: any MigratableFormat.Type
    /// The store, which stays as it is.
    package let from: URL
    /// The place of the store to make.
    package let to: URL
    /// The options with which the store is opened.
    package let options: [AnyHashable: Any]
    /// Reports how far the step is, from 0 to 1; throws `CancellationError` if it was cancelled.
    package let report: (Float) throws -> Void
}

extension NSPersistentStoreDescription {
    /// The format of the store, if a plan can migrate it.
    var migratableFormat: (any MigratableFormat.Type)? { StoreFormats.migratable(ofType: type) }
}

// A plan only knows the entities of its versions. A store may have more, of other programs, which are migrated
// along.
extension CheckedPlan {
    /// The plan for a store, and the version of the store.
    ///
    /// - Throws: ``PersistenceError/Code/unknownStoreVersion``, and the errors of opening a store.
    func adapted(
        to url: URL, of format: any MigratableFormat.Type, _ metadata: [String: Any], _ options: [AnyHashable: Any]
    ) throws -> (plan: CheckedPlan, start: Int) {
        for index in models.indices.reversed() {
            if models[index].isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) {
                return (self, index)
            }
        }
        for index in models.indices.reversed() {
            guard
                let store = try format.reconciliation(
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
    fileprivate static func notUnique(
        _ error: any Error, store: String, from: String, to: String
    ) -> PersistenceError? {
        let step = "The step from version '\(from)' to '\(to)' would leave"
        let advice =
            "Have a step `changing(to:)` make them different, or change the store with a manager of version '\(from)'. "
            + "The store is as it was."
        if let shared = error as? SharedUniqueValues {
            let properties = shared.properties.joined(separator: ", ")
            return PersistenceError(
                .notUnique, entity: shared.entity, property: properties, path: store, known: shared.examples,
                underlying: shared.underlying,
                "\(step) several '\(shared.entity)' with the same \(properties), which is to be unique: "
                    + "\(shared.examples.joined(separator: "; ")). \(advice)")
        }
        let cocoa = error as NSError
        guard cocoa.domain == NSCocoaErrorDomain, cocoa.code == NSMigrationConstraintViolationError else { return nil }
        let reason = (cocoa.userInfo[NSUnderlyingErrorKey] as? NSError ?? cocoa).localizedDescription
        return PersistenceError(
            .notUnique, path: store, reason: reason, underlying: error,
            "\(step) models with the same values where these are to be unique. \(reason) \(advice)")
    }
}
