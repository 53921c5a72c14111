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
