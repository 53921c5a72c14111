import CompactCollections
import CoreDataModel
import Ordering

/// Entities may move within a hierarchy and out of it, but two hierarchies cannot become one: their objects have the
/// same primary keys.
enum HierarchyCheck {
    /// - Parameters:
    ///   - names: the names of the entities in the source, by their names in the destination.
    ///   - source: the version of the store.
    ///   - destination: the version to migrate to.
    /// - Throws: an error for an entity that moves in a way that cannot be inferred.
    static func check(
        _ names: [String: String], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) throws(InferenceFailure) {
        for root in destination.entities.filter({ $0.superentity == nil }).ordered(by: {
            ($0.name ?? "") < ($1.name ?? "")
        }) {
            var first: (entity: String, root: String)?
            for member in root.selfAndDescendants {
                guard let name = member.name, let sourceName = names[name],
                    let former = source.entitiesByName[sourceName]?.rootEntity.name
                else { continue }
                guard let known = first else {
                    first = (name, former)
                    continue
                }
                if known.root != former {
                    throw InferenceFailure(
                        entity: name,
                        reason:
                            "Entities “\(known.entity)” and “\(name)” have a common parent, and had none in the source "
                            + "model; hierarchies cannot be merged")
                }
            }
        }
    }
}
