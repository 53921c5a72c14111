import StoreSession

/// Changes as the attributes and relationships of an entity take them.
struct PreparedChanges: @unchecked Sendable {
    // @unchecked Sendable: the values do not change once they are made.

    /// What an attribute gets.
    private enum Change {
        /// A value; `nil` for none.
        case value(Any?)
        /// A value that is merged into each stored one.
        case merged(StoredValue, FieldPlan)
        case computed(NumberChange, FieldPlan, AttributeKind)
    }

    /// Changes of attributes, in the order in which they are made.
    private var attributes: [(name: String, change: Change)] = []
    /// The models that to-one relationships shall lead to, by their keys; `nil` for none.
    private var links: [(field: FieldPlan, plan: EntityPlan, key: Any?)] = []
    private let plan: EntityPlan

    /// - Throws: ``PersistenceError/Code/notSettable``, and ``PersistenceError/Code/unwritable`` for a value that no
    ///   store keeps.
    init<Model>(_ changes: ModelChanges<Model>, _ plan: EntityPlan, _ registry: ModelRegistry) throws {
        self.plan = plan
        for (property, setting) in changes.settings {
            guard let name = property.path, let index = plan.fields.firstIndex(where: { $0.name == name }) else {
                if property.path?.contains(".") ?? false {
                    throw PersistenceError.notSettable(
                        property.spelling, entity: plan.name,
                        reason: "it lies within a value. Set the value as a whole.")
                }
                throw PersistenceError.unknownProperty(
                    property.spelling, entity: plan.name, known: plan.propertyNames)
            }
            guard index != plan.uidField else {
                throw PersistenceError.notSettable(
                    property.spelling, entity: plan.name, reason: "it is the identifier.")
            }
            switch setting {
            case .value(let value): try add(plan.fields[index], value, registry)
            case .computed(let change):
                let field = plan.fields[index]
                guard case .attribute(let kind) = field.kind else {
                    throw PersistenceError.notSettable(
                        property.spelling, entity: plan.name,
                        reason: "the store keeps it as no number. Fetch, change and save the models.")
                }
                attributes.append((field.name, .computed(change, field, kind)))
            }
        }
    }

    private mutating func add(_ field: FieldPlan, _ value: any Encodable, _ registry: ModelRegistry) throws {
        let value: (any Encodable)? =
            if let optional = value as? any OptionalValue { optional.wrappedValue } else { value }
        switch field.kind {
        case .toMany:
            throw PersistenceError.notSettable(
                field.name, entity: plan.name, reason: "it is a list of models. Fetch, change and save these models.")
        case .toOne(let related):
            links.append((field, try registry.plan(related), try value.map { try Self.key(of: $0) }))
        case .attribute:
            let value = try value.map { try Self.encoded($0, field, plan) }
            attributes.append((field.name, .value(value.flatMap { Self.attributeValue($0, field) })))
        case .json, .composite:
            let value = try value.map { try Self.encoded($0, field, plan) }
            attributes.append((field.name, .merged(value ?? .null, field)))
        }
    }

    /// A value as it is stored.
    private static func encoded(
        _ value: any Encodable, _ field: FieldPlan, _ plan: EntityPlan
    ) throws -> StoredValue {
        let encoder = RecordEncoder(RecordPlan(name: plan.name, fields: [field]))
        do { try encoder.set(value, at: 0) } catch {
            throw PersistenceError.unwritable(
                filteredEntity: plan.name, key: field.name, reason: error.encodingReason)
        }
        return encoder.values[0]
    }

    private static func key(of value: any Encodable) throws -> Any {
        if let reference = value as? any ModelReference { return try reference.keyValue() }
        if let model = value as? any CoreModel { return try model.keyValue() }
        return value
    }

    private static func attributeValue(_ value: StoredValue, _ field: FieldPlan) -> Any? {
        switch field.kind {
        case .attribute(let kind): value.attributeValue(kind)
        case .composite: value.composite?.elements
        default: value.attributeValue(.data)
        }
    }

    /// The changes of a batch update, by slot; nil if a relationship, a nested value or JSON is set, a
    /// property of a uniqueness rule that says which model to keep, or a number that only the program computes.
    func batch(of layout: EntityLayout) -> [(slot: Int, change: BatchUpdatePlan.Change)]? {
        for case .unique(let properties, _?) in plan.facts
        where attributes.contains(where: { properties.compactMap(\.path).contains($0.name) }) { return nil }
        guard links.isEmpty, !attributes.isEmpty else { return nil }
        var changes: [(slot: Int, change: BatchUpdatePlan.Change)] = []
        for (name, change) in attributes {
            guard let slot = layout.slotIndex(forName: name), let attribute = layout.slots[slot].attribute else {
                return nil
            }
            switch change {
            case .value(let value):
                if value is [String: Any] { return nil }
                changes.removeAll { $0.slot == slot }
                changes.append((slot, .value(StoredValue(value, for: attribute))))
            case .merged: return nil
            case .computed(let change, _, _):
                // Of one property, a statement makes one change.
                guard !changes.contains(where: { $0.slot == slot }), let expression = change.expression(of: name) else {
                    return nil
                }
                changes.append((slot, .expression(expression)))
            }
        }
        for stamp in plan.stamps where stamp.kind == .changed {
            guard let slot = layout.slotIndex(forName: plan.fields[stamp.field].name) else { return nil }
            if !changes.contains(where: { $0.slot == slot }) { changes.append((slot, .value(Stamp.now))) }
        }
        return changes.sorted { $0.slot < $1.slot }
    }

    /// Sets the values of rows, which were read.
    ///
    /// - Parameters:
    ///   - numbers: the rows.
    ///   - changed: the rows that the block changes.
    /// - Throws: `NeedsObjects`, ``PersistenceError``, and what reading throws.
    func apply(to numbers: [Int], in changed: ChangedRows) throws {
        let layout = try changed.rows.layout(of: plan)
        try changed.rows.check(layout)
        var destinations: [(relationship: RelationshipLayout, row: Int?, isOwned: Bool)] = []
        for (field, destination, key) in links {
            guard let relationship = layout.relationship(named: field.name), !relationship.isTransient,
                (try? changed.rows.check(relationship.destination)) != nil
            else { throw NeedsObjects(entity: plan.name) }
            if key != nil { try checkOwner(field, destination, key, count: numbers.count) }
            var row: Int?
            if let key {
                row = try changed.number(ofKey: key, of: destination)
                if row == nil {
                    throw PersistenceError.missingReference(entity: plan.name, key: field.name, uid: "\(key)")
                }
            }
            destinations.append((relationship, row, plan.owns(field)))
            try changed.load(relationship, of: numbers)
        }
        // Computed before anything is set: a result that does not fit leaves all rows as they were.
        let results = try numbers.map { try values(of: changed.entries[$0].values, layout) }
        var left: [Int] = []
        for (number, values) in zip(numbers, results) {
            for (slot, value) in values { changed.set(value, at: slot, of: number) }
            for (relationship, destination, isOwned) in destinations {
                let former = isOwned ? try changed.ends(of: relationship, at: number).first : nil
                try changed.connect(relationship, of: number, to: destination.map { [$0] } ?? [])
                if let former, former != destination { left.append(former) }
            }
        }
        if !plan.stamps.isEmpty {
            let slots = try changed.rows.slots(of: plan)
            for number in numbers { changed.stamp(number, plan, slots) }
        }
        // A model that is owned is deleted when it leaves its owner, as it is when the owner is saved, unless it has a
        // new one.
        let kept = destinations.compactMap(\.row)
        try changed.delete(left, keeping: Set(kept), stored: kept)
    }

    /// The values that a row's slots get.
    private func values(
        of row: ContiguousArray<StoredValue>, _ layout: EntityLayout
    ) throws -> [(slot: Int, value: StoredValue)] {
        var values: [(slot: Int, value: StoredValue)] = []
        for (name, change) in attributes {
            guard let slot = layout.slotIndex(forName: name), let attribute = layout.slots[slot].attribute else {
                throw NeedsObjects(entity: plan.name)
            }
            let present = values.last { $0.slot == slot }?.value ?? row[slot]
            switch change {
            case .value(let value): values.append((slot, StoredValue(value, for: attribute)))
            case .merged(let new, let field):
                values.append((slot, present == new ? present : try merged(new, intoStored: present, field)))
            case .computed(let change, let field, _):
                if present.isNull { continue }
                values.append((slot, try Self.encoded(result(change, present, name), field, plan)))
            }
        }
        return values
    }

    private func result(_ change: NumberChange, _ present: StoredValue, _ name: String) throws -> any Encodable {
        do { return try change.result(of: present, entity: plan.name, key: name) } catch let misfit
            as NumberChange.DoesNotFit
        {
            throw PersistenceError.unwritable(filteredEntity: plan.name, key: name, reason: misfit.reason)
        }
    }

    /// Refuses several owners of one model, as a save does.
    private func checkOwner(_ field: FieldPlan, _ destination: EntityPlan, _ key: Any?, count: Int) throws {
        guard plan.ownsAlone(field), count > 1 else { return }
        throw PersistenceError.unwritable(
            filteredEntity: plan.name, key: field.name,
            reason:
                "the filter selects \(count), and the \(destination.name) '\(key ?? "")' belongs to one only. Select one, or "
                + "take the rule off: what is shared may be in many.")
    }

    private func merged(_ new: StoredValue, intoStored stored: StoredValue, _ field: FieldPlan) throws -> StoredValue {
        do { return try field.merged(new, into: stored) } catch let refusal as StoredMergeRefusal {
            throw PersistenceError.unwritable(
                filteredEntity: plan.name, key: ([field.name] + refusal.path).joined(separator: "."),
                reason: refusal.reason)
        }
    }
}
