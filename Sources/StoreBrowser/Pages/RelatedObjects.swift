import CoreData
import HTTPMessages
import PredicateFormat
import StoreEngine
import StoreReading

/// The objects that an object is related to by a to-many relationship of its own, or that refer to it by a relationship
/// without inverse.
struct RelatedObjects {
    /// The entity of the related objects.
    let entity: EntityLayout
    let relationship: RelationshipLayout
    private let isBack: Bool

    /// The to-many relationships of an entity.
    static func own(_ entity: EntityLayout) -> [RelatedObjects] {
        entity.toManys.filter { !$0.isTransient }.map {
            RelatedObjects(entity: $0.destination, relationship: $0, isBack: false)
        }
    }

    /// The relationships without inverse that refer to objects of an entity.
    static func back(to entity: EntityLayout, in layout: ModelLayout) -> [RelatedObjects] {
        layout.entities.flatMap { other in
            other.relationships.filter { relationship in
                relationship.source === other && relationship.inverse == nil && !relationship.isTransient
                    && entity.isKind(of: relationship.destination)
            }.map { RelatedObjects(entity: other, relationship: $0, isBack: true) }
        }
    }

    var title: String { isBack ? "\(entity.name).\(relationship.name)" : relationship.name }

    var remark: String {
        if isBack { return "leads here" }
        return (relationship.isOrdered ? "→ many \(entity.name), ordered" : "→ many \(entity.name)")
    }

    /// The inverse by which the destinations are found by a filter.
    private var inverse: RelationshipLayout? { isBack ? relationship : relationship.inverse }

    /// The part of a grid's address that selects the objects.
    func query(from identifier: NSManagedObjectID) -> [(String, String?)] {
        // Encoded once more, since names may contain slashes.
        func place(_ relationship: RelationshipLayout) -> String {
            Address.relative([identifier.layout.name, "\(identifier.key)", relationship.name])
        }
        return inverse.map { [("by", place($0))] } ?? [("of", place(relationship))]
    }

    /// The first related objects, in order if the relationship is ordered.
    func first(_ count: Int, from identifier: NSManagedObjectID, _ store: DirectStore) throws -> [Row] {
        try store.asking { engine in
            if let inverse, !relationship.isOrdered {
                var plan = FetchPlan(entity: entity)
                plan.predicate = makePredicate(
                    .comparison(
                        ComparisonTree(
                            .keyPath([inverse.name]), .equalTo, .constant(Value(identifier)),
                            modifier: inverse.isToMany ? .any : .direct)))
                if store.pagesByKey { plan.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)] }
                plan.limit = count
                return Array(try engine.fetchRows(plan))
            }
            let found = try engine.destinations(of: relationship, for: [identifier]).first ?? []
            let wanted = Array(found.prefix(count))
            let rows = try ObjectLabel.names(of: wanted, engine)
            return wanted.compactMap { rows[$0] }
        }
    }
}
