import Foundation

/// Brings a store from any known version to a later one, over as many steps as needed.
///
/// ```swift
/// let known = try KnownVersions(package, mappingFolders: [resources])
/// let migration = try ProgressiveMigration(at: url, to: model, over: known)
/// try migration.run { print($0.fractionCompleted) }
/// ```
///
/// All of it is worked out and checked before anything is touched. One inferred step is done in place, in one transaction.
/// Otherwise each step makes a store in a folder beside the original, and the last of them replaces the original in one
/// transaction, with its files of external data and its history: when anything interrupts the chain, the store is of the version
/// that it was of, or of the last one, never of one between.
package struct ProgressiveMigration {
    let format: any MigratableFormat.Type
    package let url: URL
    /// What is done, in order; nothing for a store that is of the wanted version.
    package let steps: [ChainStep]
    let configuration: String?
    let options: [AnyHashable: Any]?

    /// Finds the shortest chain of steps that there are mapping models for, or that can be inferred.
    ///
    /// - Parameters:
    ///   - format: the kind of the store.
    ///   - url: the store.
    ///   - destination: the model to get to.
    ///   - known: the versions and the mapping models.
    ///   - configuration: the configuration of the destination that the store holds; `nil` for all entities.
    ///   - options: the options to open the stores with.
    /// - Throws: 134130 when the store is of no known version, 134506 when its version is later than the wanted one, 134140
    ///   when no chain leads there, 134110 when a mapping model does not fit.
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
        let chain = ShortestChain(count: versions.count, isOrdered: known.isOrdered, mapped: Set(mapped.keys)) { hop in
            (try? MappingInference.inferred(from: versions[hop.from].model, to: versions[hop.to].model)) != nil
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

    /// As `init(of:at:to:over:configuration:options:)`, by the type of the store.
    package init(
        of type: String = NSSQLiteStoreType, at url: URL, to destination: NSManagedObjectModel,
        over known: KnownVersions, configuration: String? = nil, options: [AnyHashable: Any]? = nil
    ) throws {
        try self.init(
            of: NSPersistentStoreCoordinator.migratableFormat(of: type, url), at: url, to: destination, over: known,
            configuration: configuration, options: options)
    }

    /// Takes those of given steps that are still to be done.
    ///
    /// - Parameters:
    ///   - type: the type of the store.
    ///   - url: the store, of the version that one of the steps begins with or the last one ends with.
    ///   - plan: all steps, from the oldest version on; each begins where the one before it ends.
    ///   - configuration: the configuration of the models whose entities the store holds; `nil` for all.
    ///   - options: the options that the store is opened with.
    /// - Throws: 134130 when the store is of none of the versions, 134140 when the steps do not join.
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
        // The latest of them, where a version comes up twice.
        guard let start = store.index(in: versions.reversed(), configuration: configuration) else {
            throw MigrationError.unknownVersion(url: url, metadata: store.metadata, known: versions)
        }
        self.format = format
        self.url = url
        self.configuration = configuration
        self.options = options
        steps = Array(plan.dropFirst(versions.count - 1 - start))
    }

    /// The chain in words, a line for each step.
    package var description: String {
        steps.enumerated().map { "\($0 + 1). \($1.description)" }.joined(separator: "\n")
    }
}
