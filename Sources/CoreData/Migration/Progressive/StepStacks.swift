import Foundation

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
