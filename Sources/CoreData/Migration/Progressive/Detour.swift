import CompactCollections

/// The versions that a chain of inferred steps may go over where nothing says in which order versions were made. Pure.
///
/// A version that lacks what both ends of the chain have would be an older one, or one of another branch: its step
/// would delete objects and values that the store has and its new version wants.
struct Detour {
    private let start: NSManagedObjectModel
    /// What the last version has of the first one, by the first one's names.
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

    private static func kept(
        from start: NSManagedObjectModel, in version: NSManagedObjectModel
    ) -> [String: Set<String>] {
        let correspondence = ModelCorrespondence(from: start, to: version)
        return Dictionary(
            correspondence.entities.map { ($0.value, Set(correspondence.properties[$0.key, default: [:]].values)) },
            uniquingKeysWith: { first, _ in first })
    }
}
