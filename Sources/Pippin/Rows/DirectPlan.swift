#if !canImport(ObjectiveC)
    import CoreData

    /// How a model's rows are saved without managed objects.
    final class DirectPlan: Sendable {
        let plan: EntityPlan
        let layout: EntityLayout
        /// The slot of each field; -1 for a relationship.
        let slots: ContiguousArray<Int>
        /// The field of each slot; -1 for a slot that the model has no field for.
        let fields: ContiguousArray<Int>
        /// The fields with values in slots, the slots, and the plan of a nested value, which is compared part by part.
        let comparisons: ContiguousArray<(field: Int, slot: Int, composite: RecordPlan?)>
        let members: [Member]
        let toOnes: [ToOne]
        let manys: [Many]
        /// The fields that must have a value.
        let required: [Int]

        /// A relationship to models of which each can be in one model only.
        struct Member: Sendable {
            let field: Int
            let relationship: RelationshipLayout
            /// The slot of a member's row that has its owner.
            let ownerSlot: Int
            let destination: DirectPlan
            /// Whether members that leave the relationship are deleted.
            let isOwned: Bool
        }

        /// A relationship to a model that may be in many models, or a reference to it.
        struct ToOne: Sendable {
            let field: Int
            let slot: Int
            let isRequired: Bool
            /// The inverse relationship, whose changes count as changes of the destination.
            let inverse: RelationshipLayout?
            let destination: DirectPlan
            let isReference: Bool
        }

        /// A relationship to models that may each be in many models, or references to them.
        struct Many: Sendable {
            let field: Int
            let relationship: RelationshipLayout
            /// The inverse relationship, whose changes count as changes of the destinations.
            let inverse: RelationshipLayout
            let destination: DirectPlan
            let isReference: Bool
        }

        /// The relationships of a model.
        private struct Relationships {
            var members: [Member] = []
            var toOnes: [ToOne] = []
            var manys: [Many] = []
        }

        private init(
            _ plan: EntityPlan, _ layout: EntityLayout, _ slots: ContiguousArray<Int>, _ attributes: [Int],
            _ relationships: Relationships = Relationships()
        ) {
            (self.plan, self.layout, self.slots) = (plan, layout, slots)
            (members, toOnes, manys) = (relationships.members, relationships.toOnes, relationships.manys)
            var fields = ContiguousArray(repeating: -1, count: layout.defaultValues.count)
            for field in attributes { fields[slots[field]] = field }
            self.fields = fields
            comparisons = ContiguousArray(
                attributes.map { field in
                    guard case .composite(let record) = plan.fields[field].kind else {
                        return (field, slots[field], nil)
                    }
                    return (field, slots[field], record)
                })
            let needed = Set(layout.requiredSlots ?? [])
            required = attributes.filter { needed.contains(slots[$0]) }
        }

        /// Whether its objects can be deleted without any further work.
        var isLeaf: Bool { members.isEmpty && layout.relationships.count == 1 }

        /// Whether the store prevents two rows with one identifier. If others insert a model that was not
        /// found, the save is refused.
        var isFoundByUniqueIdentifier: Bool {
            layout.uniquenessConstraints.contains([plan.fields[plan.uidField].name])
        }

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
            var slots = ContiguousArray<Int>()
            var attributes: [Int] = []
            var relationships = Relationships()
            for (index, field) in plan.fields.enumerated() {
                guard let related = field.related else {
                    guard let slot = layout.slotIndex(forName: field.name) else { return nil }
                    slots.append(slot)
                    attributes.append(index)
                    continue
                }
                slots.append(-1)
                guard field.isToMany else {
                    guard let toOne = try toOne(index, of: plan, layout, registry, model, within: path) else {
                        return nil
                    }
                    relationships.toOnes.append(toOne)
                    continue
                }
                guard let relationship = layout.relationship(named: field.name),
                    let inverse = relationship.inverse, !relationship.isTransient, !inverse.isTransient
                else { return nil }
                let destination = try registry.plan(related)
                if inverse.isToMany {
                    guard !plan.owns(field), inverse !== relationship,
                        let direct = try shared(destination, related, of: plan, registry, model, within: path)
                    else { return nil }
                    relationships.manys.append(
                        Many(
                            field: index, relationship: relationship, inverse: inverse, destination: direct,
                            isReference: related.isReference))
                    continue
                }
                guard !related.isReference, destination.field(named: inverse.name) == nil,
                    let direct = try Self.plan(destination, registry, model, within: path.union([plan.id]))
                else { return nil }
                relationships.members.append(
                    Member(
                        field: index, relationship: relationship, ownerSlot: inverse.slot, destination: direct,
                        isOwned: plan.owns(field)))
            }
            // Nothing would set a required attribute that is not a property of the model.
            let given = Set(attributes.map { slots[$0] } + relationships.toOnes.map(\.slot))
            let isComplete = (layout.requiredSlots ?? []).allSatisfy {
                given.contains($0) || !layout.defaultValues[$0].isNull
            }
            return isComplete ? DirectPlan(plan, layout, slots, attributes, relationships) : nil
        }

        private static func toOne(
            _ index: Int, of plan: EntityPlan, _ layout: EntityLayout, _ registry: ModelRegistry, _ model: ModelLayout,
            within path: Set<ObjectIdentifier>
        ) throws -> ToOne? {
            let field = plan.fields[index]
            guard let related = field.related, !plan.owns(field),
                let relationship = layout.relationship(named: field.name), !relationship.isTransient
            else { return nil }
            let destination = try registry.plan(related)
            let inverse = relationship.inverse
            if let inverse, !inverse.isToMany || inverse.isOrdered || inverse.isTransient { return nil }
            guard destination.id != plan.id, !path.contains(destination.id),
                inverse.map({ destination.field(named: $0.name) == nil }) ?? true,
                let direct = try related.isReference
                    ? referred(destination, model)
                    : Self.plan(destination, registry, model, within: path.union([plan.id])), direct.members.isEmpty
            else { return nil }
            return ToOne(
                field: index, slot: relationship.slot,
                isRequired: layout.requiredSlots?.contains(relationship.slot) ?? false, inverse: inverse,
                destination: direct, isReference: related.isReference)
        }

        /// The plan of the destinations of a many-to-many relationship. A destination of a reference may be of any
        /// type: only the change of its inverse relationship is written.
        private static func shared(
            _ destination: EntityPlan, _ related: RelatedModel, of plan: EntityPlan, _ registry: ModelRegistry,
            _ model: ModelLayout, within path: Set<ObjectIdentifier>
        ) throws -> DirectPlan? {
            if related.isReference { return referred(destination, model) }
            guard destination.id != plan.id, !path.contains(destination.id),
                let direct = try Self.plan(destination, registry, model, within: path.union([plan.id])),
                direct.members.isEmpty
            else { return nil }
            return direct
        }

        /// The plan of models that are only referred to: only the change of their inverse relationship is written.
        private static func referred(_ plan: EntityPlan, _ model: ModelLayout) -> DirectPlan? {
            guard let layout = model.entityByName[plan.name], layout.isPlain else { return nil }
            let slots = ContiguousArray(
                plan.fields.map { $0.related == nil ? layout.slotIndex(forName: $0.name) ?? -1 : -1 })
            guard slots[plan.uidField] >= 0 else { return nil }
            return DirectPlan(plan, layout, slots, plan.fields.indices.filter { slots[$0] >= 0 })
        }
    }

    extension EntityLayout {
        /// Whether its objects only hold values.
        fileprivate var isPlain: Bool {
            selfAndSubentities.count == 1 && superentity == nil && !isAbstract && requiredSlots != nil
                && validatedToManys.isEmpty && derivedSlots.isEmpty && transientSlots.isEmpty
                && description.managedObjectClassName == "NSManagedObject"
        }
    }
#endif
