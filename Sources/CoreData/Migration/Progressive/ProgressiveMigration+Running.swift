import Foundation

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
