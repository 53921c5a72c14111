import Foundation

// The three stages of a migration.
extension NSMigrationManager {
    func migrate(_ run: MigrationRun) throws {
        try make(run)
        try connect(run)
        try perform(2, run) { mapping, policy in
            try policy.performCustomValidation(forMapping: mapping, manager: self)
            try policy.end(mapping, manager: self)
        }
        try checkCancellation()
        run.current = nil
        try run.portions.finish()
        guard willMigrate != nil else { return }
        run.associations.settle()
        keyPairs = run.entityMappings.flatMap { run.associations.keyPairs(mapping: $0.name ?? "") }
    }

    private func perform(
        _ stage: Int, _ run: MigrationRun, _ body: (NSEntityMapping, NSEntityMigrationPolicy) throws -> Void
    ) throws {
        let mappings = Array(zip(run.entityMappings, run.policies))
        for (index, (mapping, policy)) in mappings.enumerated() {
            try checkCancellation()
            run.current = mapping
            run.step = (stage * mappings.count + index, of: mappings.count * 3)
            try body(mapping, policy)
            noteProgress(run, 1)
        }
    }

    /// Reports the progress of the migration.
    ///
    /// - Parameters:
    ///   - run: the migration that is running.
    ///   - part: how much of the entity mapping's stage is done, from 0 to 1.
    func noteProgress(_ run: MigrationRun, _ part: Float) {
        setProgress((Float(run.step.number) + min(part, 1)) / Float(run.step.of) * 0.99)
    }

    /// Makes the objects.
    private func make(_ run: MigrationRun) throws {
        try perform(0, run) { mapping, policy in
            try policy.begin(mapping, with: self)
            try forEachPortion(ofSourcesIn: mapping, policy: policy, run) { sources in
                for source in sources {
                    try checkCancellation()
                    try policy.createDestinationInstances(forSource: source, in: mapping, manager: self)
                    try run.portions.saveIfFull()
                }
            }
            try policy.endInstanceCreation(forMapping: mapping, manager: self)
        }
        try run.portions.finishMaking()
    }

    /// Connects the objects.
    private func connect(_ run: MigrationRun) throws {
        try perform(1, run) { mapping, policy in
            // Without relationships, the default policy has nothing to do.
            let isUsual = type(of: policy) == NSEntityMigrationPolicy.self
            if isUsual, mapping.relationshipMappings?.isEmpty ?? true { return }
            try forEachPortion(ofDestinationsIn: mapping, run) { destinations in
                for destination in destinations {
                    try checkCancellation()
                    try policy.createRelationships(forDestination: destination, in: mapping, manager: self)
                }
            }
            try policy.endRelationshipCreation(forMapping: mapping, manager: self)
        }
    }

    /// The objects that an entity mapping made, in portions; the objects that they were made of are in memory, too.
    private func forEachPortion(
        ofDestinationsIn mapping: NSEntityMapping, _ run: MigrationRun, _ body: ([NSManagedObject]) throws -> Void
    ) throws {
        let name = mapping.name ?? ""
        // Associations that policies make from now on are not included.
        let (settled, live) = (run.associations.keyPairs(mapping: name), run.associations.made(mapping: name))
        for (group, pairs) in settled.enumerated() {
            let steps = run.relationshipSteps(mapping, from: pairs.source.layout)
            for start in stride(from: 0, to: pairs.count, by: MigrationPortions.reading) {
                // Objects of several entities may have become one object.
                let positions = (start..<min(start + MigrationPortions.reading, pairs.count)).filter { position in
                    pairs.destinations.isFirst(position)
                        && !settled[..<group].haveDestination(
                            pairs.destination.identifier(pairs.destinations.keys[position]))
                }
                let sources = try run.source.loadedObjects(
                    positions.map { pairs.source.identifier(pairs.sources.keys[$0]) })
                let destinations = try run.destination.loadedObjects(
                    positions.map { pairs.destination.identifier(pairs.destinations.keys[$0]) })
                let partners = try run.loadPartners(of: sources, steps)
                try withExtendedLifetime((sources, partners)) { try body(destinations) }
                try run.portions.saveIfFull()
                run.portions.letGo()
                let part = min(Float(start + MigrationPortions.reading) / Float(pairs.count), 1)
                noteProgress(run, (Float(group) + part) / Float(settled.count))
            }
        }
        try body(live.filter { !settled.haveDestination($0.identifier) })
    }
}
