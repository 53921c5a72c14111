import CompactCollections

/// The steps of a staged migration, as a value: the stages between two versions of a store.
struct StagedPlan: Equatable {
    /// A stage, reduced to what matters for the order of versions.
    enum Stage: Equatable {
        case lightweight([String])
        case custom(from: String, to: String)

        var versions: [String] {
            switch self {
            case .lightweight(let versions): return versions
            case .custom(let from, let to): return [from, to]
            }
        }

        /// The stage with other names for the versions.
        func renamed(_ name: (String) -> String) -> Stage {
            switch self {
            case .lightweight(let versions): return .lightweight(versions.map(name))
            case .custom(let from, let to): return .custom(from: name(from), to: name(to))
            }
        }
    }

    /// The reason why there is no path.
    enum Obstacle: Error, Equatable {
        case unknownStoreVersion
        case unknownModelVersion
        case backward
    }

    /// The custom stages to run, by their indexes; before, between and after them lightweight migrations are inferred.
    let customStages: [Int]

    /// - Parameters:
    ///   - stages: the stages, in order.
    ///   - store: the version checksum of the store.
    ///   - model: the version checksum of the model to migrate to.
    /// - Throws: the obstacle that prevents the stages from leading from one version to the other.
    init(_ stages: [Stage], from store: String, to model: String) throws(Obstacle) {
        var order: [(version: String, stage: Int)] = []
        for (index, stage) in stages.enumerated() { order += stage.versions.map { ($0, index) } }
        guard let start = order.lastIndex(where: { $0.version == store }) else { throw .unknownStoreVersion }
        guard let end = order.lastIndex(where: { $0.version == model }) else { throw .unknownModelVersion }
        guard start <= end else { throw .backward }
        customStages = stages.indices.filter { index in
            guard case .custom = stages[index], let first = order.firstIndex(where: { $0.stage == index }) else {
                return false
            }
            return first >= start && first + 1 <= end
        }
    }
}
