import CompactCollections

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
