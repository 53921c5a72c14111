import Foundation

/// A version of a model that a migration can pass through.
package struct KnownVersion {
    package let name: String
    package let model: NSManagedObjectModel

    package init(name: String, model: NSManagedObjectModel) {
        self.name = name
        self.model = model
    }
}

/// A mapping model with its name.
package struct NamedMapping {
    package let name: String
    package let mapping: NSMappingModel

    package init(name: String, mapping: NSMappingModel) {
        self.name = name
        self.mapping = mapping
    }
}

/// The known versions of a model, and the mapping models between them.
package struct KnownVersions {
    package private(set) var versions: [KnownVersion]
    /// Whether the versions are in the order in which they were made.
    package let isOrdered: Bool
    package let mappings: [NamedMapping]
    /// The versions of the package that cannot be read, each with the reason; a migration uses the others.
    package private(set) var unread: [(name: String, reason: String)] = []

    /// Versions in the order in which they were made.
    package init(_ versions: [KnownVersion], mappings: [NamedMapping] = []) {
        self.init(versions, isOrdered: true, mappings: mappings)
    }

    init(_ versions: [KnownVersion], isOrdered: Bool, mappings: [NamedMapping]) {
        self.versions = versions
        self.isOrdered = isOrdered
        self.mappings = mappings
    }

    /// The versions of a model package, in the order of their names, and the mapping models in folders.
    ///
    /// - Parameters:
    ///   - package: the model package.
    ///   - mappingFolders: the folders to search for compiled mapping models.
    ///   - readsSources: whether sources of mapping models are also searched there, and compiled.
    /// - Throws: the errors of reading the current version and the mapping models, with the file.
    package init(_ package: ModelPackage, mappingFolders: [URL], readsSources: Bool = false) throws {
        let names = package.versions.map(\.name)
        let order = VersionOrder.sorted(names)
        var versions: [KnownVersion] = []
        var unread: [(name: String, reason: String)] = []
        for name in order ?? names {
            do { versions.append(KnownVersion(name: name, model: try package.model(version: name))) } catch let error
                as NSError where !package.isCurrent(name)
            {
                unread.append((name, error.localizedDescription))
            }
        }
        let sources = MappedVersions(
            package: package.url.deletingPathExtension().lastPathComponent, versions: versions)
        let mappings = try MappingModelFiles.read(in: mappingFolders, sourcesFor: readsSources ? sources : nil)
        self.init(versions, isOrdered: order != nil, mappings: mappings)
        self.unread = unread
    }

    /// The versions in the model package of a model, and the mapping models, in bundles.
    ///
    /// - Parameters:
    ///   - model: one version of the model.
    ///   - directories: the directories to search for packages and mapping models.
    /// - Throws: the errors of reading, with the file.
    package init(of model: NSManagedObjectModel, in directories: [URL] = ModelLocator.searchedDirectories()) throws {
        for directory in directories {
            for url in try MappingModelFiles.files(in: directory, withExtension: "momd") {
                let known = try KnownVersions(ModelPackage(at: url), mappingFolders: directories)
                if known.index(of: model) != nil {
                    self = known
                    return
                }
            }
        }
        self.init([], isOrdered: false, mappings: try MappingModelFiles.read(in: directories))
    }

    /// The index of the version that a model is of.
    func index(of model: NSManagedObjectModel) -> Int? {
        if let same = versions.firstIndex(where: { $0.model === model }) { return same }
        // A package's model records which version it is. That version is compared first, so that the others need not be
        // hashed.
        let named = versions.firstIndex { $0.model.origin != nil && $0.model.origin == model.origin }
        if let named, versions[named].model.isSameVersion(as: model) { return named }
        return versions.firstIndex { $0.model.isSameVersion(as: model) }
    }

    /// Adds a model as the latest version, unless it is known; returns its index.
    mutating func add(_ model: NSManagedObjectModel, named name: String) -> Int {
        if let known = index(of: model) { return known }
        versions.append(KnownVersion(name: name, model: model))
        return versions.count - 1
    }

    /// The steps between versions for which there are mapping models; of several for a step, the one that leaves out
    /// the fewest entities of the destination.
    func mappedHops() -> [ShortestChain.Hop: NamedMapping] {
        var found: [ShortestChain.Hop: (named: NamedMapping, unnamed: Int)] = [:]
        for named in mappings where named.mapping.namesVersions {
            for (hop, unnamed) in hops(of: named.mapping.entityMappings ?? []) {
                if found[hop].map({ unnamed < $0.unnamed }) ?? true { found[hop] = (named, unnamed) }
            }
        }
        return found.mapValues(\.named)
    }

    /// The steps that a mapping model is for, with how many entities of the destination it leaves out.
    ///
    /// A version to which entities were added later has the same hashes for the others. A step to that version is none
    /// of the mapping model's, as the shorter one is, after which another mapping model may follow.
    private func hops(of mappings: [NSEntityMapping]) -> [(hop: ShortestChain.Hop, unnamed: Int)] {
        guard !mappings.isEmpty else { return [] }
        let sources = versions.indices.filter { MappingFit.agree(mappings, source: versions[$0].model) }
        guard !sources.isEmpty else { return [] }
        let destinations = versions.indices.filter { MappingFit.agree(mappings, destination: versions[$0].model) }
            .map { (version: $0, unnamed: MappingFit.unnamed(mappings, of: versions[$0].model)) }
        return sources.flatMap { from in
            let fitting = destinations.filter { to in
                let (source, destination) = (versions[from].model, versions[to.version].model)
                return to.version != from && MappingFit.lost(mappings, from: source, to: destination).isEmpty
            }
            return fitting.filter { to in
                // Of ordered versions, only those in between: no step leads back.
                !fitting.contains {
                    $0.unnamed < to.unnamed && (!isOrdered || (from < $0.version && $0.version < to.version))
                }
            }.map { (ShortestChain.Hop(from: from, to: $0.version), $0.unnamed) }
        }
    }
}

extension NSMappingModel {
    /// Whether the mapping model identifies its versions, by the version hashes of the entities.
    fileprivate var namesVersions: Bool {
        (entityMappings ?? []).allSatisfy {
            ($0.sourceEntityName == nil || $0.sourceEntityVersionHash != nil)
                && ($0.destinationEntityName == nil || $0.destinationEntityVersionHash != nil)
        }
    }
}

extension StoreVersion {
    /// The index of the first version that fits the store.
    func index(in versions: [KnownVersion], configuration: String?) -> Int? {
        versions.firstIndex { fits($0.model, configuration: configuration) }
    }
}

/// The order in which the versions of a model were made, as far as their names show it. Pure.
enum VersionOrder {
    /// The names in order, if they share a prefix followed by numbers, like Xcode's: `Model`, `Model 2`, `Model 10`, or
    /// `v1.2`, `v1.10`.
    ///
    /// - Returns: `nil` if the names show no order.
    static func sorted(_ names: [String]) -> [String]? {
        let beginning = commonBeginning(names)
        var numbered: [(name: String, numbers: [Int])] = []
        for name in names {
            let rest = name.dropFirst(beginning)
            let numbers = rest.split(whereSeparator: { !$0.isNumber }).compactMap { Int($0) }
            guard !numbers.isEmpty || rest.isEmpty else { return nil }
            numbered.append((name, numbers))
        }
        let sorted = numbered.sorted { $0.numbers.lexicographicallyPrecedes($1.numbers) }
        for (first, second) in zip(sorted, sorted.dropFirst()) where first.numbers == second.numbers { return nil }
        return sorted.map(\.name)
    }

    /// The length of the names' common prefix, without splitting a number.
    private static func commonBeginning(_ names: [String]) -> Int {
        guard var beginning = names.first else { return 0 }
        for name in names {
            while !name.hasPrefix(beginning) { beginning.removeLast() }
        }
        let cutsNumber = names.contains { name in name.dropFirst(beginning.count).first?.isNumber ?? false }
        while cutsNumber, beginning.last?.isNumber ?? false { beginning.removeLast() }
        return beginning.count
    }
}

/// Reads the option.
enum ProgressiveOption {
    /// The versions to pass through; `nil` if the option is not set.
    ///
    /// Within the package, the value may also be the caller's own ``KnownVersions``.
    static func versions(_ options: [AnyHashable: Any]?, model: NSManagedObjectModel) throws -> KnownVersions? {
        if let known = options?[PippinProgressiveMigrationOptionKey] as? KnownVersions { return known }
        guard StoreSettings.flag(options, PippinProgressiveMigrationOptionKey) else { return nil }
        return try KnownVersions(of: model)
    }
}

/// Opens the stores before and after a step, for the code that completes it.
struct StepStacks {
    private let step: ChainStep
    private let format: any MigratableFormat.Type
    private let old: URL
    private let new: URL
    private let options: [AnyHashable: Any]?

    init(_ step: ChainStep, _ format: any MigratableFormat.Type, old: URL, new: URL, options: [AnyHashable: Any]?) {
        self.step = step
        self.format = format
        self.old = old
        self.new = new
        self.options = options
    }

    /// Runs the code, and saves what it changed.
    ///
    /// - Throws: the errors of the code, of validation and of saving.
    func run(_ work: ChainStep.Work, configuration: String?) throws {
        let before = try coordinator(step.source.model, old, isReadOnly: true)
        let after = try coordinator(step.destination.model, new, isReadOnly: false, configuration)
        let reader = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        reader.persistentStoreCoordinator = before
        let writer = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        writer.persistentStoreCoordinator = after
        try writer.performAndWait {
            try reader.performAndWait { try work(reader, writer) }
            if writer.hasChanges { try writer.save() }
        }
        for store in after.persistentStores { try after.remove(store) }
        for store in before.persistentStores { try before.remove(store) }
    }

    private func coordinator(
        _ model: NSManagedObjectModel, _ url: URL, isReadOnly: Bool, _ configuration: String? = nil
    ) throws -> NSPersistentStoreCoordinator {
        let model = PlainModel.make(of: model)
        var configuration = configuration
        var plain = StoreMigrationOptions.plain(options)
        if isReadOnly {
            plain[NSReadOnlyPersistentStoreOption] = true
            // The store may be one of a configuration.
            let metadata = try format.metadata(at: url, options: options)
            configuration = PlainModel.addConfiguration(to: model, ofStoreWith: metadata)
        }
        // A store with a history may only be written to with history tracking.
        if !isReadOnly, try format.version(of: url, options: options).hasHistory {
            plain[NSPersistentHistoryTrackingKey] = true
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: format.type, configurationName: configuration, at: url, options: plain)
        return coordinator
    }
}

/// A step of a migration over several versions of a model.
package struct ChainStep {
    /// How the step is done.
    package enum Way {
        /// By SQL, as inferred.
        case inferred(MappingPlan)
        /// Object by object, by a mapping model.
        case mapped(NamedMapping)
    }

    /// Code that completes a step. It may read the objects of the old version, and change those of the new one, which
    /// are saved afterwards. An object of an inferred step keeps its primary key.
    ///
    /// Both contexts are private-queue contexts, and the code runs on both queues.
    package typealias Work = (_ old: NSManagedObjectContext, _ new: NSManagedObjectContext) throws -> Void

    package let source: KnownVersion
    package let destination: KnownVersion
    package let way: Way
    package let work: Work?

    /// An inferred step.
    ///
    /// - Throws: 134190 if it cannot be inferred.
    package init(inferringFrom source: KnownVersion, to destination: KnownVersion, work: Work? = nil) throws {
        self.source = source
        self.destination = destination
        way = .inferred(try MappingInference.plan(from: source.model, to: destination.model))
        self.work = work
    }

    /// A step by a mapping model.
    ///
    /// - Throws: 134110 if the mapping model names entities, properties or a migration policy that do not exist.
    package init(
        from source: KnownVersion, to destination: KnownVersion, by mapping: NamedMapping, work: Work? = nil
    ) throws {
        try MappingCheck.check(mapping.mapping, from: source.model, to: destination.model)
        self.source = source
        self.destination = destination
        way = .mapped(mapping)
        self.work = work
    }

    /// `“A” to “B”, inferred`
    package var description: String {
        let means: String
        switch way {
        case .inferred: means = "inferred"
        case .mapped(let named): means = "by the mapping model “\(named.name)”"
        }
        return "“\(source.name)” to “\(destination.name)”, \(means)\(work == nil ? "" : ", and code")"
    }
}
