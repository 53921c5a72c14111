import Foundation

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
