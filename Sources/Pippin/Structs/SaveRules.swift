import StoreSession

/// The rules of the models by which a block's changes are checked when it ends: required values are there, and what
/// must be unique is. Before, a block may break them for a while.
struct SaveRules {
    /// The rows as they were before the block.
    let rows: StoreRows
    let registry: ModelRegistry

    // MARK: Required values

    /// The rows of a change set that lack required values, each with the slot of the value.
    static func lacks(in set: ChangeSet) -> [(change: RowChange, slot: Int)] {
        var lacks: [(change: RowChange, slot: Int)] = []
        var (layout, required): (EntityLayout?, [Int]) = (nil, [])
        for change in set.inserted { check(change) }
        for change in set.updated { check(change) }
        func check(_ change: RowChange) {
            if change.objectID.layout !== layout {
                layout = change.objectID.layout
                required = layout?.requiredSlots ?? []
            }
            for slot in required where change.values[slot].isNull { lacks.append((change, slot)) }
        }
        return lacks
    }

    /// Checks that no required value is missing.
    ///
    /// - Throws: ``PersistenceError/Code/invalid``, which names the models and the properties.
    func checkRequired(_ set: ChangeSet) throws {
        let lacks = Self.lacks(in: set)
        guard !lacks.isEmpty else { return }
        let deleted = Set(set.deleted.map(\.objectID))
        let failures = try lacks.map { change, slot in
            let (layout, name) = (change.objectID.layout, change.objectID.layout.slots[slot].name)
            return SaveFailure(
                entity: layout.name, identifier: identifier(layout, change.values), property: name,
                reason: try reason(change, slot, deleted)
                    ?? "“\(layout.name).\(name)” is a required value, and has none.")
        }
        let errors = failures.map { failure in
            StoreError.make(
                NSValidationMissingMandatoryPropertyError, failure.reason,
                userInfo: [NSValidationKeyErrorKey: failure.property ?? ""])
        }
        let error =
            errors.count == 1
            ? errors[0]
            : StoreError.make(
                NSValidationMultipleErrorsError, "Several required values are missing.",
                userInfo: [NSDetailedErrorsKey: errors])
        throw PersistenceError(.invalid, of: failures, error)
    }

    /// Why a row lacks its destination, if that is deleted.
    private func reason(_ change: RowChange, _ slot: Int, _ deleted: Set<NSManagedObjectID>) throws -> String? {
        guard !deleted.isEmpty, let former = try rows.rows(for: [change.objectID]).first,
            case .identifier(let destination) = former.values[slot], deleted.contains(destination)
        else { return nil }
        let entity = destination.layout.name
        let row = try rows.rows(for: [destination]).first
        let name = row.flatMap { identifier($0.objectID.layout, $0.values) }.map { "the \(entity) '\($0)'" }
        return "It is required, and \(name ?? "the \(entity)") would be deleted. "
            + "Delete the \(change.objectID.layout.name) as well, or save it with another \(entity) first."
    }

    /// A row's identifier, as text.
    private func identifier(_ layout: EntityLayout, _ values: ContiguousArray<StoredValue>) -> String? {
        let names = [registry.plans.first { $0.name == layout.name }?.uidKey, "uid", "id"].compactMap { $0 }
        return names.lazy.compactMap(layout.slotIndex(forName:)).first.flatMap { RecordKey(values[$0])?.text }
    }

    // MARK: Unique values

    /// The error for values that models share, and must not.
    ///
    /// - Parameters:
    ///   - violations: the values, and who shares them.
    ///   - set: the changes that were to be saved.
    /// - Returns: the error, which names the models and the properties.
    func error(_ violations: [ConstraintViolation], _ set: ChangeSet) -> PersistenceError {
        let wanted = Set(violations.flatMap(\.conflicting))
        var values: [NSManagedObjectID: ContiguousArray<StoredValue>] = [:]
        for change in set.inserted + set.updated where wanted.contains(change.objectID) {
            values[change.objectID] = change.values
        }
        let failures = violations.flatMap { violation in
            let stored = violation.stored.map { row in
                (row.objectID.layout.name, identifier(row.objectID.layout, row.values))
            }
            let other = stored.flatMap { entity, name in name.map { "The \(entity) '\($0)'" } } ?? "Another one"
            let shared = violation.constraint.count == 1 ? "the same value" : "the same values"
            return violation.conflicting.map { conflicting in
                SaveFailure(
                    entity: conflicting.layout.name,
                    identifier: values[conflicting].flatMap { identifier(conflicting.layout, $0) },
                    property: violation.constraint.joined(separator: ", "),
                    reason: "\(other) has \(shared) already.")
            }
        }
        let names = violations.prefix(3).map { violation in
            let values = zip(violation.constraint, violation.values).map { "\($0) = \(RecordKey($1)?.text ?? "nil")" }
            return "\(violation.entity.name) with \(values.joined(separator: ", "))"
        }
        let error = StoreError.make(
            NSManagedObjectConstraintMergeError,
            "There would be more than one \(names.joined(separator: "; "))\(violations.count > 3 ? " …" : ""). "
                + "Change the values.")
        return PersistenceError(.conflict, of: failures, error)
    }

    /// Which model stays where two share the values of a constraint.
    ///
    /// - Parameter violation: the values, and who shares them.
    /// - Returns: the schema's choice; nil where it makes none.
    func kept(_ violation: ConstraintViolation) -> KeptModel? {
        guard let plan = registry.plans.first(where: { $0.name == violation.entity.name }) else { return nil }
        for case .unique(let properties, let kept?) in plan.facts
        where properties.compactMap(\.path) == violation.constraint { return kept }
        return nil
    }

    /// Whether several rows are one model, since they share its identifier.
    func isOfOneModel(_ violation: ConstraintViolation) -> Bool {
        registry.plans.contains { $0.name == violation.entity.name && [$0.uidKey] == violation.constraint }
    }
}

/// A block's changes, after which models would share values that must be unique, made to changes without them: the
/// schema says which of the models stays.
final class SettledChanges {
    let changed: ChangedRows
    /// How many new models were left out for others.
    private(set) var replaced = 0
    private let rules: SaveRules

    /// - Parameters:
    ///   - set: the changes.
    ///   - rules: the rules of the models.
    /// - Throws: what reading throws.
    init(_ set: ChangeSet, _ rules: SaveRules) throws {
        changed = ChangedRows(rules.rows)
        self.rules = rules
        try changed.take(set)
    }

    /// Leaves one model of those that share values.
    func settle(_ violation: ConstraintViolation, keeping kept: KeptModel) throws {
        let stored = violation.stored.map(changed.note)
        var losers = violation.conflicting.map(changed.number(of:)).filter { $0 != stored }
        losers.removeAll { changed.entries[$0].isDeleted }
        guard let survivor = stored ?? (kept == .new ? losers.last : losers.first) else { return }
        losers.removeAll { $0 == survivor }
        let own = own(of: changed.entries[survivor].layout, kept)
        let taken = kept == .new && stored != nil ? losers : []
        var ends: [(relationship: RelationshipLayout, ends: [Int], isOwner: Bool)] = []
        if let last = taken.last {
            for (relationship, isOwner) in own {
                ends.append((relationship, try changed.ends(of: relationship, at: last), isOwner))
            }
        }
        for loser in taken { try takeValues(of: loser, into: survivor) }
        for loser in losers where kept == .new || changed.entries[loser].isNew {
            try takePlace(of: loser, survivor, except: taken.isEmpty ? own.map(\.relationship) : [])
        }
        var left: [Int] = []
        for (relationship, new, isOwner) in ends {
            if isOwner { left += try changed.ends(of: relationship, at: survivor) }
            try changed.connect(relationship, of: survivor, to: new)
        }
        let staying = Set(ends.filter(\.isOwner).flatMap(\.ends))
        for number in left where !staying.contains(number) { changed.delete(number) }
        for loser in losers {
            if changed.entries[loser].isNew { replaced += 1 }
            if kept == .new || changed.entries[loser].isNew {
                changed.delete(loser)
            } else {
                try changed.restore(loser)
            }
        }
    }

    /// The relationships that are values of a model as attributes are, and whether it owns their models. All others are
    /// its places in other models, and so are those that are properties of these, too, of a model that is left out.
    private func own(
        of layout: EntityLayout, _ kept: KeptModel
    ) -> [(relationship: RelationshipLayout, isOwner: Bool)] {
        let plans = rules.registry.plans
        func field(_ relationship: RelationshipLayout?) -> Bool? {
            guard let relationship, let plan = plans.first(where: { $0.name == relationship.source.name }) else {
                return nil
            }
            return plan.relationships.lazy.map { plan.fields[$0] }.first { $0.name == relationship.name }
                .map(plan.owns)
        }
        return layout.relationships.compactMap { relationship in
            guard let isOwner = field(relationship), kept == .new || field(relationship.inverse) == nil else {
                return nil
            }
            return (relationship, isOwner)
        }
    }

    private func takeValues(of loser: Int, into survivor: Int) throws {
        let layout = changed.entries[survivor].layout
        for slot in layout.slots.indices where layout.slots[slot].attribute != nil {
            changed.set(changed.entries[loser].values[slot], at: slot, of: survivor)
        }
        for relationship in layout.toOnes {
            let ends = try changed.ends(of: relationship, at: loser)
            if !ends.isEmpty { try changed.connect(relationship, of: survivor, to: ends) }
        }
    }

    /// Puts the row that stays into the place of one that goes, in the relationships of others.
    private func takePlace(of loser: Int, _ survivor: Int, except own: [RelationshipLayout]) throws {
        for relationship in changed.entries[loser].layout.toManys where !own.contains(where: { $0 === relationship }) {
            for end in try changed.ends(of: relationship, at: loser) {
                if let list = relationship.inverse, list.isOrdered {
                    let members = try changed.ends(of: list, at: end)
                    if !members.contains(survivor) {
                        try changed.connect(list, of: end, to: members.map { $0 == loser ? survivor : $0 })
                        continue
                    }
                }
                let present = try changed.ends(of: relationship, at: survivor)
                if !present.contains(end) { try changed.connect(relationship, of: survivor, to: present + [end]) }
            }
        }
    }
}

extension SchemaRule {
    /// The property says when the model was first saved: the save fills it in where a new model has nil there, and no
    /// later save changes it, whatever its copy of the model says.
    ///
    /// ```swift
    /// @CoreModel struct Note {
    ///     let id: Int
    ///     var text: String
    ///     var createdAt: Date?
    ///     var updatedAt: Date?
    ///     static var schema: Schema<Note> { Schema(.createdAt(\.createdAt), .updatedAt(\.updatedAt)) }
    /// }
    /// ```
    ///
    /// A new model that has a date keeps it, as imports need. `update(_:where:_:)` may set it.
    ///
    /// - Parameter keyPath: a date of the model itself.
    /// - Returns: the rule, for ``Schema``.
    public static func createdAt(_ keyPath: KeyPath<Model, Date?>) -> Self {
        Self(fact: .stamp(PropertyName(keyPath), .created))
    }

    /// The property says when the model was first saved. A new model brings its date along, as with the initial value
    /// `Date()`; no later save changes it, whatever its copy of the model says.
    ///
    /// - Parameter keyPath: a date of the model itself.
    /// - Returns: the rule, for ``Schema``.
    public static func createdAt(_ keyPath: KeyPath<Model, Date>) -> Self {
        Self(fact: .stamp(PropertyName(keyPath), .created))
    }

    /// The property says when the model was last changed: each save that inserts the model or changes another property
    /// of it sets the date, whatever its copy of the model says. A save that changes nothing writes nothing.
    ///
    /// `update(_:where:_:)` sets it in each model that its statement changes, unless it sets the property itself.
    ///
    /// - Parameter keyPath: a date of the model itself.
    /// - Returns: the rule, for ``Schema``.
    public static func updatedAt(_ keyPath: KeyPath<Model, Date?>) -> Self {
        Self(fact: .stamp(PropertyName(keyPath), .changed))
    }

    /// The property says when the model was last changed: each save that inserts the model or changes another property
    /// of it sets the date, whatever its copy of the model says. A save that changes nothing writes nothing.
    ///
    /// - Parameter keyPath: a date of the model itself.
    /// - Returns: the rule, for ``Schema``.
    public static func updatedAt(_ keyPath: KeyPath<Model, Date>) -> Self {
        Self(fact: .stamp(PropertyName(keyPath), .changed))
    }
}

extension ChangedRows {
    /// Sets the date of the latest change of a stored row, if it changes and the date is not set already.
    func stamp(_ number: Int, _ plan: EntityPlan, _ slots: ContiguousArray<Int>) {
        for stamp in plan.stamps where stamp.kind == .changed && hasOwnChanges(number, plan) {
            let (slot, row) = (slots[stamp.field], entries[number].row)
            if entries[number].values[slot] == row?.values[slot] { set(Stamp.now, at: slot, of: number) }
        }
    }
}
