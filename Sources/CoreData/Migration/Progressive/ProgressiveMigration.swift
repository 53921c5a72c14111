import Foundation

/// Migrates a store from any known version to a later one, over as many steps as needed.
///
/// ```swift
/// let known = try KnownVersions(package, mappingFolders: [resources])
/// let migration = try ProgressiveMigration(at: url, to: model, over: known)
/// try migration.run { print($0.fractionCompleted) }
/// ```
///
/// Everything is planned and checked before anything is touched. A single inferred step is done in place, in one
/// transaction. Otherwise each step makes a store in a folder beside the original, and the last of them replaces the
/// original in one transaction, with its files of external data and its history. If anything interrupts the chain, the
/// store is of its original version or of the last one, never of one in between.
package struct ProgressiveMigration {
    let format: any MigratableFormat.Type
    package let url: URL
    /// The steps, in order; empty for a store that is of the wanted version already.
    package let steps: [ChainStep]
    package let configuration: String?
    let options: [AnyHashable: Any]?

    /// Finds the shortest chain of steps that have mapping models or can be inferred.
    ///
    /// - Parameters:
    ///   - format: the store's format.
    ///   - url: the store.
    ///   - destination: the model to migrate to.
    ///   - known: the versions and the mapping models.
    ///   - configuration: the configuration of the destination that the store holds; `nil` for all entities.
    ///   - options: the options to open the stores with.
    /// - Throws: 134130 if the store is of no known version, 134506 if its version is later than the wanted one, 134140
    ///   if no chain leads there, 134110 if a mapping model does not fit.
    init(
        of format: any MigratableFormat.Type, at url: URL, to destination: NSManagedObjectModel,
        over known: KnownVersions, configuration: String? = nil,
        options: [AnyHashable: Any]? = nil
    ) throws {
        let store = try format.version(of: url, options: options)
        var known = known
        let end = known.add(destination, named: MigrationError.name(of: destination))
        guard let start = store.index(in: known.versions, configuration: configuration) else {
            throw MigrationError.unknownVersion(
                url: url, metadata: store.metadata, known: known.versions, unread: known.unread)
        }
        self.format = format
        self.url = url
        self.configuration = configuration
        self.options = options
        guard start != end else {
            steps = []
            return
        }
        if known.isOrdered, start > end {
            throw MigrationError.backward(url: url, from: known.versions[start], to: known.versions[end])
        }
        let mapped = known.mappedHops()
        let versions = known.versions
        let detour = known.isOrdered ? nil : Detour(from: versions[start].model, to: versions[end].model)
        let chain = ShortestChain(count: versions.count, isOrdered: known.isOrdered, mapped: Set(mapped.keys)) { hop in
            if let detour, hop.to != end, !detour.isLossless(over: versions[hop.to].model) { return false }
            return (try? MappingInference.inferred(from: versions[hop.from].model, to: versions[hop.to].model)) != nil
        }
        guard let hops = chain.hops(from: start, to: end) else {
            throw MigrationError.noChain(url: url, from: versions[start], to: versions[end], known: known)
        }
        steps = try hops.map { hop in
            let (from, to) = (versions[hop.from], versions[hop.to])
            guard let mapping = mapped[hop] else { return try ChainStep(inferringFrom: from, to: to) }
            return try ChainStep(from: from, to: to, by: mapping)
        }
    }

    /// The same, for a type of store; see `init(of:at:to:over:configuration:options:)`.
    package init(
        of type: String = NSSQLiteStoreType, at url: URL, to destination: NSManagedObjectModel,
        over known: KnownVersions, configuration: String? = nil, options: [AnyHashable: Any]? = nil
    ) throws {
        try self.init(
            of: NSPersistentStoreCoordinator.migratableFormat(of: type, url), at: url, to: destination, over: known,
            configuration: configuration, options: options)
    }

    /// Selects the given steps that remain to be done.
    ///
    /// - Parameters:
    ///   - type: the type of the store.
    ///   - url: the store, whose version is the source of one of the steps or the destination of the last.
    ///   - plan: all steps, from the oldest version on; each begins where the previous one ends.
    ///   - configuration: the configuration of the models whose entities the store holds; `nil` for all.
    ///   - options: the options that the store is opened with.
    /// - Throws: 134130 if the store is of none of the versions, 134140 if the steps do not connect.
    package init(
        of type: String = NSSQLiteStoreType, at url: URL, along plan: [ChainStep], configuration: String? = nil,
        options: [AnyHashable: Any]? = nil
    ) throws {
        let format = try NSPersistentStoreCoordinator.migratableFormat(of: type, url)
        for (first, second) in zip(plan, plan.dropFirst())
        where !first.destination.model.isSameVersion(as: second.source.model) {
            throw MigrationError.disjoint(url: url, first, second)
        }
        let store = try format.version(of: url, options: options)
        let versions = plan.map(\.source) + (plan.last.map { [$0.destination] } ?? [])
        // The latest one, if a version occurs twice.
        guard let start = store.index(in: versions.reversed(), configuration: configuration) else {
            throw MigrationError.unknownVersion(url: url, metadata: store.metadata, known: versions)
        }
        self.format = format
        self.url = url
        self.configuration = configuration
        self.options = options
        steps = Array(plan.dropFirst(versions.count - 1 - start))
    }

    /// A description of the chain, with a line for each step.
    package var description: String {
        steps.enumerated().map { "\($0 + 1). \($1.description)" }.joined(separator: "\n")
    }
}

/// The versions that a chain of inferred steps may go over where nothing says in which order versions were made. Pure.
///
/// A version that lacks what both ends of the chain have would be an older one, or one of another branch: its step
/// would delete objects and values that the store has and its new version wants, or empty relationships that lead
/// elsewhere there.
struct Detour {
    private let start: NSManagedObjectModel
    /// The parts of the first version that the last one still has, by the names of the first.
    private let kept: [String: Set<String>]

    init(from start: NSManagedObjectModel, to end: NSManagedObjectModel) {
        self.start = start
        kept = Self.kept(from: start, in: end)
    }

    /// Whether a version has everything of the first one that the last one has.
    func isLossless(over version: NSManagedObjectModel) -> Bool {
        let present = Self.kept(from: start, in: version)
        return kept.allSatisfy { entity, properties in present[entity].map(properties.isSubset) ?? false }
    }

    /// By entity, the properties of the first model whose values and objects the version keeps.
    private static func kept(
        from start: NSManagedObjectModel, in version: NSManagedObjectModel
    ) -> [String: Set<String>] {
        let correspondence = ModelCorrespondence(from: start, to: version)
        var kept: [String: Set<String>] = [:]
        for (name, formerName) in correspondence.entities {
            let properties = correspondence.properties[name, default: [:]].filter { property, former in
                guard let relationship = version.entitiesByName[name]?.relationshipsByName[property],
                    let known = start.entitiesByName[formerName]?.relationshipsByName[former]
                else { return true }
                return !RelationshipChange.startsAnew(known, relationship, successors: correspondence.successors)
            }
            kept[formerName] = Set(properties.values)
        }
        return kept
    }
}

// The errors of migrations over several versions, and of those that make a new store.
extension MigrationError {
    /// 134130: the store is of an unknown version, most likely a later one.
    static func unknownVersion(
        url: URL, metadata: [String: Any], known: [KnownVersion], unread: [(name: String, reason: String)] = []
    ) -> NSError {
        StoreError.make(
            CoreDataErrorCode.migrationMissingSourceModel,
            "The store “\(url.lastPathComponent)” cannot be migrated: it is of "
                + "\(VersionDescription(metadata).text(with: checksum(metadata))), which is none of the known versions \(names(known)). "
                + (unread.isEmpty
                    ? "It may have been written by a newer version of the application." : sentence(unread)),
            url: url,
            suggestion: "Update the application, or ship the model that the store was made with.",
            userInfo: ["reason": "Can't find model for source store", "URL": url, "metadata": metadata])
    }

    /// 134506: the store is of a later version than the wanted one.
    static func backward(url: URL, from source: KnownVersion, to destination: KnownVersion) -> NSError {
        StoreError.make(
            NSStagedMigrationBackwardMigrationError,
            "The store “\(url.lastPathComponent)” cannot be migrated: it is of the version “\(source.name)”, which is later "
                + "than “\(destination.name)”, the one to get to. A newer version of the application has written it.",
            url: url, suggestion: "Update the application.",
            userInfo: ["sourceModel": source.model, "destinationModel": destination.model])
    }

    /// 134140: no steps lead from one version to the other.
    static func noChain(url: URL, from source: KnownVersion, to destination: KnownVersion, known: KnownVersions)
        -> NSError
    {
        var obstacle = "The direct step can be inferred."
        var underlying: NSError?
        do { _ = try MappingInference.plan(from: source.model, to: destination.model) } catch {
            underlying = error as NSError
            obstacle = (error as NSError).localizedDescription
        }
        let mappings = known.mappings.isEmpty ? "there are none" : known.mappings.map(\.name).joined(separator: ", ")
        return StoreError.make(
            CoreDataErrorCode.migrationMissingMappingModel,
            "The store “\(url.lastPathComponent)” cannot be migrated from “\(source.name)” to “\(destination.name)”: no chain of "
                + "steps leads there. \(obstacle) The known versions are \(shortNames(known.versions)) (mapping models: "
                + "\(mappings))."
                + (known.unread.isEmpty ? "" : " " + sentence(known.unread)), url: url,
            suggestion: "Add a mapping model, or a version of the model between the two.",
            underlying: underlying,
            userInfo: [
                "reason": "Can't find or automatically infer mapping model for migration",
                "sourceModel": source.model, "destinationModel": destination.model,
            ])
    }

    /// 134140: the steps of a plan do not connect.
    static func disjoint(url: URL, _ first: ChainStep, _ second: ChainStep) -> NSError {
        StoreError.make(
            CoreDataErrorCode.migrationMissingMappingModel,
            "The plan for “\(url.lastPathComponent)” has a gap: a step ends with the version “\(first.destination.name)”, and the "
                + "next begins with “\(second.source.name)”.", url: url,
            suggestion: "Begin each step with the version that the one before it ends with.")
    }

    /// 134090: the store is no longer of the version for which the plan was made.
    static func changed(url: URL, _ step: ChainStep) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreTimeout,
            "The store “\(url.lastPathComponent)” is not of the version “\(step.source.name)” any more: another process has "
                + "migrated it meanwhile.", url: url, suggestion: "Look at its version again.")
    }

    /// The error of a step, with the versions and advice.
    static func step(_ index: Int, of migration: ProgressiveMigration, _ error: any Error) -> NSError {
        let (first, last) = (migration.steps[0].source, migration.steps[migration.steps.count - 1].destination)
        return failed(
            error, url: migration.url, from: "the version “\(first.name)”", to: "“\(last.name)”",
            step: "Step \(index + 1) of \(migration.steps.count) (\(migration.steps[index].description))",
            userInfo: ["step": index + 1, "sourceModel": first.model, "destinationModel": last.model])
    }

    /// The error of a migration by a mapping model.
    static func mapped(
        url: URL, from source: NSManagedObjectModel, to destination: NSManagedObjectModel, _ error: any Error
    ) -> NSError {
        failed(
            error, url: url, from: version(source, sibling: destination), to: version(destination),
            step: "The step by the mapping model",
            userInfo: ["sourceModel": source, "destinationModel": destination])
    }

    private static func checksum(_ metadata: [String: Any]) -> String {
        metadata[NSPersistentStoreModelVersionChecksumKey] as? String
            ?? VersionHash.checksum(of: StoreMetadata.hashes(in: metadata))
    }

    /// `The version “3” cannot be read: ….`
    private static func sentence(_ unread: [(name: String, reason: String)]) -> String {
        unread.map { "The version “\($0.name)” cannot be read: \($0.reason)" }.joined(separator: " ")
    }

    private static func names(_ versions: [KnownVersion]) -> String {
        versions.map { "“\($0.name)”" }.joined(separator: ", ")
    }

    /// The same, with the first and the last of many.
    private static func shortNames(_ versions: [KnownVersion]) -> String {
        guard versions.count > 8 else { return names(versions) }
        return "\(names(Array(versions.prefix(3)))), … \(names(Array(versions.suffix(3)))), \(versions.count) in all"
    }
}

extension ProgressiveMigration {
    /// Migrates the store; if this fails, the store is unchanged.
    ///
    /// - Parameter progress: called during the migration, on this thread, with values that never decrease.
    /// - Throws: the error of a step, with the versions and the step; 134090 if others keep the store locked. Others
    ///   who want to write wait until the migration is done.
    package func run(progress: @escaping (MigrationProgress) -> Void = { _ in }) throws {
        guard let first = steps.first else { return format.removeLeftovers(of: url) }
        try format.prepareMigration(of: url, options: options)
        if steps.count == 1, first.work == nil, case .inferred(let plan) = first.way {
            try naming(0) { try migrate(url, first, plan) { report(0, $0, progress) } }
            return report(0, 1, progress)
        }
        var furthest = 0.0
        try format.succeed(url, options: options, failing: { MigrationError.step(steps.count - 1, of: self, $0) }) {
            try successor($0, of: first.source) { state in
                // In a second round, progress that was reported before is not reported again.
                guard state.fractionCompleted >= furthest else { return }
                furthest = state.fractionCompleted
                progress(state)
            }
        }
        report(steps.count - 1, 1, progress)
    }

    private func successor(
        _ places: any SuccessorPlaces, of source: KnownVersion, progress: @escaping (MigrationProgress) -> Void
    ) throws -> URL? {
        // Another process may have migrated the store while this one waited.
        let version = try format.version(of: url, options: options)
        guard version.fits(source.model, configuration: configuration) else {
            if let last = steps.last, version.fits(last.destination.model, configuration: configuration) { return nil }
            throw MigrationError.changed(url: url, steps[0])
        }
        var current = url
        for index in steps.indices {
            current = try naming(index) {
                try make(index, of: current, in: places) { report(index, $0, progress) }
            }
        }
        return current
    }

    private func report(_ index: Int, _ fraction: Double, _ progress: (MigrationProgress) -> Void) {
        let step = steps[index]
        progress(
            MigrationProgress(
                step: index + 1, stepCount: steps.count, source: step.source.name, destination: step.destination.name,
                fractionCompleted: (Double(index) + fraction) / Double(steps.count)))
    }

    /// Makes the store of a step, and removes the previous one unless it is the original; or changes the previous one
    /// in place if that suffices.
    private func make(
        _ index: Int, of store: URL, in places: any SuccessorPlaces, _ progress: @escaping (Double) -> Void
    ) throws -> URL {
        let step = steps[index]
        if index > 0, step.work == nil, case .inferred(let plan) = step.way {
            try migrate(store, step, plan, progress)
            return store
        }
        let place = try places.place(step: index + 1)
        switch step.way {
        case .inferred(let plan):
            try places.copy(store, to: place)
            try migrate(place, step, plan) { progress($0 * 0.99) }
        case .mapped(let named):
            let migration = MappedMigration(
                format: format, url: store, source: step.source.model, destination: step.destination.model,
                mapping: named.mapping,
                configuration: isLast(index) ? configuration : nil, options: options)
            try migration.make(at: place) { progress(Double($0) * 0.99) }
        }
        if let work = step.work {
            let stacks = StepStacks(step, format, old: store, new: place, options: options)
            try stacks.run(work, configuration: isLast(index) ? configuration : nil)
        }
        if index > 0 { try places.remove(store) }
        progress(1)
        return place
    }

    private func isLast(_ index: Int) -> Bool { index == steps.count - 1 }

    /// Carries out an inferred step in place.
    private func migrate(_ store: URL, _ step: ChainStep, _ plan: MappingPlan, _ progress: (Double) -> Void) throws {
        let last = steps.last.map { $0.destination.model === step.destination.model } ?? false
        let migration = InferredMigration(
            from: step.source.model, to: step.destination.model, plan: plan,
            configuration: last ? configuration : nil)
        try format.migrate(store, by: migration, options: options, defersCleanup: false, progress: progress)
    }

    private func naming<Result>(_ index: Int, _ work: () throws -> Result) throws -> Result {
        do { return try work() } catch {
            throw MigrationError.step(index, of: self, error)
        }
    }
}

/// The progress of a migration over several versions.
package struct MigrationProgress: Equatable, Sendable {
    /// The current step, from 1.
    package var step: Int
    package var stepCount: Int
    /// The names of the step's source and destination versions.
    package var source: String
    package var destination: String
    /// The completed part of the whole chain, from 0 to 1.
    package var fractionCompleted: Double
}
