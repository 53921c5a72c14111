import StoreSession

// Decides which models are saved without managed objects.
extension DirectPlan {
    /// The plan of a model, with those of the models in it.
    ///
    /// - Parameters:
    ///   - plan: the model.
    ///   - registry: knows the models in it.
    ///   - model: the entities.
    ///   - path: the models that contain it.
    /// - Returns: `nil` for models whose objects do more than hold values: custom classes, validation, derived
    ///   attributes, models that lead back to themselves.
    /// - Throws: ``PersistenceError`` for a model that the registry does not know.
    static func plan(
        _ plan: EntityPlan, _ registry: ModelRegistry, _ model: ModelLayout, within path: Set<ObjectIdentifier> = []
    ) throws -> DirectPlan? {
        guard !path.contains(plan.id), let layout = model.entityByName[plan.name], layout.isPlain else {
            return nil
        }
        let planning = Planning(plan: plan, layout: layout, registry: registry, model: model, path: path)
        var slots = ContiguousArray(repeating: -1, count: plan.fields.count)
        var attributes: [Int] = []
        var relationships = Relationships()
        for index in plan.fields.indices {
            guard let place = try planning.place(ofField: index) else { return nil }
            switch place {
            case .slot(let slot):
                slots[index] = slot
                attributes.append(index)
            case .toOne(let toOne): relationships.toOnes.append(toOne)
            case .many(let many): relationships.manys.append(many)
            case .member(let member): relationships.members.append(member)
            }
        }
        // Nothing would set a required attribute that is not a property of the model.
        let given = Set(attributes.map { slots[$0] } + relationships.toOnes.map(\.slot))
        let isComplete = (layout.requiredSlots ?? []).allSatisfy {
            given.contains($0) || !layout.defaultValues[$0].isNull
        }
        return isComplete ? DirectPlan(plan, layout, slots, attributes, relationships) : nil
    }

    /// The plan of models that are only referred to: only the change of their inverse relationship is written.
    fileprivate static func referred(_ plan: EntityPlan, _ model: ModelLayout) -> DirectPlan? {
        guard let layout = model.entityByName[plan.name], layout.isPlain else { return nil }
        let slots = ContiguousArray(
            plan.fields.map { $0.related == nil ? layout.slotIndex(forName: $0.name) ?? -1 : -1 })
        guard slots[plan.uidField] >= 0 else { return nil }
        return DirectPlan(plan, layout, slots, plan.fields.indices.filter { slots[$0] >= 0 })
    }
}

/// The planning of a model.
private struct Planning {
    let plan: EntityPlan
    let layout: EntityLayout
    let registry: ModelRegistry
    let model: ModelLayout
    /// The models that contain the model.
    let path: Set<ObjectIdentifier>

    /// Where a field's value is.
    enum Place {
        case slot(Int)
        case toOne(DirectPlan.ToOne)
        case many(DirectPlan.Many)
        case member(DirectPlan.Member)
    }

    /// Where a field's value is; `nil` for one that is not saved without managed objects.
    func place(ofField index: Int) throws -> Place? {
        let field = plan.fields[index]
        guard let related = field.related else { return layout.slotIndex(forName: field.name).map(Place.slot) }
        guard field.isToMany else { return try toOne(index, related).map(Place.toOne) }
        guard let relationship = layout.relationship(named: field.name), let inverse = relationship.inverse,
            !relationship.isTransient, !inverse.isTransient
        else { return nil }
        return inverse.isToMany
            ? try many(index, related, relationship, inverse).map(Place.many)
            : try member(index, related, relationship, inverse).map(Place.member)
    }

    private func toOne(_ index: Int, _ related: RelatedModel) throws -> DirectPlan.ToOne? {
        let field = plan.fields[index]
        guard !plan.owns(field), let relationship = layout.relationship(named: field.name),
            !relationship.isTransient
        else { return nil }
        let destination = try registry.plan(related)
        let inverse = relationship.inverse
        if let inverse, !inverse.isToMany || inverse.isOrdered || inverse.isTransient { return nil }
        guard destination.id != plan.id, !path.contains(destination.id),
            inverse.map({ destination.field(named: $0.name) == nil }) ?? true,
            let direct = try related.isReference ? DirectPlan.referred(destination, model) : contained(destination),
            direct.members.isEmpty
        else { return nil }
        return DirectPlan.ToOne(
            field: index, slot: relationship.slot,
            isRequired: layout.requiredSlots?.contains(relationship.slot) ?? false, inverse: inverse,
            destination: direct, isReference: related.isReference)
    }

    /// A many-to-many relationship. A destination of a reference may be of any type: only the change of its inverse
    /// relationship is written.
    private func many(
        _ index: Int, _ related: RelatedModel, _ relationship: RelationshipLayout, _ inverse: RelationshipLayout
    ) throws -> DirectPlan.Many? {
        let destination = try registry.plan(related)
        guard !plan.owns(plan.fields[index]), inverse !== relationship,
            let direct = try related.isReference ? DirectPlan.referred(destination, model) : shared(destination)
        else { return nil }
        return DirectPlan.Many(
            field: index, relationship: relationship, inverse: inverse, destination: direct,
            isReference: related.isReference)
    }

    private func member(
        _ index: Int, _ related: RelatedModel, _ relationship: RelationshipLayout, _ inverse: RelationshipLayout
    ) throws -> DirectPlan.Member? {
        let destination = try registry.plan(related)
        guard !related.isReference, destination.field(named: inverse.name) == nil,
            let direct = try contained(destination)
        else { return nil }
        return DirectPlan.Member(
            field: index, relationship: relationship, ownerSlot: inverse.slot, destination: direct,
            isOwned: plan.owns(plan.fields[index]))
    }

    /// The plan of a model that may be in many models; `nil` if it has members of its own.
    private func shared(_ destination: EntityPlan) throws -> DirectPlan? {
        guard destination.id != plan.id, !path.contains(destination.id),
            let direct = try contained(destination), direct.members.isEmpty
        else { return nil }
        return direct
    }

    /// The plan of a model in this one.
    private func contained(_ destination: EntityPlan) throws -> DirectPlan? {
        try DirectPlan.plan(destination, registry, model, within: path.union([plan.id]))
    }
}

extension EntityLayout {
    /// Whether its objects only hold values.
    var isPlain: Bool {
        selfAndSubentities.count == 1 && superentity == nil && !isAbstract && requiredSlots != nil
            && validatedToManys.isEmpty && derivedSlots.isEmpty && transientSlots.isEmpty
            && description.managedObjectClassName == "NSManagedObject"
    }

    /// Checks that rows are all there is to the entity.
    ///
    /// - Throws: `NeedsObjects`.
    func checkIsPlain() throws {
        if !isPlain { throw NeedsObjects(entity: name) }
    }
}

/// Thrown where managed objects do more than hold values: custom classes, inheritance, validation, derived attributes.
struct NeedsObjects: Error {
    let entity: String
}
