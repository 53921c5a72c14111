/// A relationship of the derived model, one side of a pair.
struct RelationshipPlan: Equatable {
    let entity: String
    let name: String
    let destination: String
    var isToMany: Bool
    var isOrdered = false
    var isOptional = true
    /// Whether deleting the object also deletes the destinations.
    var isOwner = false
    let inverse: String
    /// The name in stores of builds that took the property for another one; nil if it was the same.
    var formerName: String?
}

/// Pairs up the relationships of models. Core Data keeps every relationship from both sides; if only one model has a
/// property for it, the other side gets one with a name like `booksOfStore`.
enum RelationshipPairs {
    static func pairs(of registry: ModelRegistry) throws -> [(RelationshipPlan, RelationshipPlan)] {
        var pairs: [(RelationshipPlan, RelationshipPlan)] = []
        var done: Set<String> = []
        for declared in [true, false] {
            for plan in registry.plans {
                for index in plan.relationships {
                    let field = plan.fields[index]
                    let inverse = inverse(of: field, in: plan)
                    guard (inverse != nil) == declared, done.insert("\(plan.name).\(field.name)").inserted else {
                        continue
                    }
                    guard let related = field.related else { continue }
                    let destination = try registry.plan(related)
                    let other = try inverse.map { try property($0, of: destination, for: field, in: plan) }
                    if let other {
                        let isNew = done.insert("\(destination.name).\(other.name)").inserted
                        guard isNew || (other.name == field.name && destination === plan) else {
                            throw SchemaCheck.refusal(
                                plan, field.name,
                                "'\(destination.name).\(other.name)' is the other side of another property already.")
                        }
                    }
                    pairs.append(try pair(field, of: plan, other, of: destination))
                }
            }
        }
        return pairs
    }

    private static func pair(
        _ field: FieldPlan, of plan: EntityPlan, _ other: FieldPlan?, of destination: EntityPlan
    ) throws -> (RelationshipPlan, RelationshipPlan) {
        let owns = plan.owns(field)
        let back = other?.name ?? "\(field.name)Of\(plan.name)"
        guard other != nil || destination.field(named: back) == nil else {
            throw SchemaCheck.refusal(
                plan, field.name,
                "its other side, in '\(destination.name)', would be '\(back)', and there is a property of that name. Rename that, "
                    + "or make it the other side: Schema(.inverse(\\.\(field.name), of: \\\(destination.name).\(back)))."
            )
        }
        let one = RelationshipPlan(
            entity: plan.name, name: field.name, destination: destination.name, isToMany: field.isToMany,
            isOrdered: isOrdered(field), isOptional: field.isOptional || field.isToMany, isOwner: owns, inverse: back,
            formerName: field.formerName)
        let two = RelationshipPlan(
            entity: destination.name, name: back, destination: plan.name,
            // An owned model has one owner; a shared one may be in many models.
            isToMany: other.map(\.isToMany) ?? !owns, isOrdered: other.map(isOrdered) ?? false,
            isOptional: other.map { $0.isOptional || $0.isToMany } ?? true,
            isOwner: other.map(destination.owns) ?? false, inverse: field.name,
            formerName: other == nil ? field.formerName.map { "\($0)Of\(plan.name)" } : other?.formerName)
        return (one, two)
    }

    private static func isOrdered(_ field: FieldPlan) -> Bool {
        if case .toMany(_, let isOrdered) = field.kind { return isOrdered }
        return false
    }

    private static func inverse(of field: FieldPlan, in plan: EntityPlan) -> PropertyName? {
        for case .inverse(let property, let other, _) in plan.facts where property.path == field.name { return other }
        return nil
    }

    private static func property(
        _ name: PropertyName, of destination: EntityPlan, for field: FieldPlan, in plan: EntityPlan
    ) throws -> FieldPlan {
        guard let path = name.path, let other = destination.field(named: path), other.related?.id == plan.id else {
            throw SchemaCheck.refusal(
                plan, field.name,
                "its inverse is to be \(name.spelling), which does not lead back to '\(plan.record.name)'.")
        }
        return other
    }
}
