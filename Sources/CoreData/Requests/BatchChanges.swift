import Foundation

/// Reads the changes of a batch update. Pure.
enum BatchChanges {
    /// The change of each affected slot, ascending.
    ///
    /// - Throws: an `NSError` that names the property which is unknown or cannot be set, or whose value is of a wrong
    ///   type.
    static func changes(
        _ properties: [AnyHashable: Any], of layout: EntityLayout
    ) throws -> [(slot: Int, change: BatchUpdatePlan.Change)] {
        guard !properties.isEmpty else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "A batch update of “\(layout.name)” needs propertiesToUpdate, and has none.")
        }
        var changes: [(slot: Int, change: BatchUpdatePlan.Change)] = []
        for (key, value) in properties {
            let name = try name(of: key, layout)
            let slot = try slot(name, layout)
            changes.append((slot, try change(value, layout.slots[slot], layout)))
        }
        return changes.sorted { $0.slot < $1.slot }
    }

    private static func name(of key: AnyHashable, _ layout: EntityLayout) throws -> String {
        if let description = key.base as? NSPropertyDescription { return description.name }
        if let name = key.base as? String { return name }
        throw refusal(
            "propertiesToUpdate of “\(layout.name)” has a \(type(of: key.base)) as a key; it wants property names or "
                + "descriptions.")
    }

    private static func slot(_ name: String, _ layout: EntityLayout) throws -> Int {
        guard let place = layout.propertyByName[name] else {
            throw refusal(
                "A batch update cannot set “\(name)”: entity “\(layout.name)” has only "
                    + "\(layout.propertyByName.keys.sorted().joined(separator: ", ")).")
        }
        guard case .slot(let slot) = place else {
            throw refusal(
                "A batch update cannot set “\(layout.name).\(name)”, which is not an attribute or to-one relationship.")
        }
        let isDerived = layout.slots[slot].attribute?.derivation != nil
        guard !layout.slots[slot].isTransient, !isDerived else {
            throw refusal(
                "A batch update cannot set “\(layout.name).\(name)”, which is \(isDerived ? "derived" : "transient").")
        }
        return slot
    }

    private static func change(
        _ value: Any, _ slot: SlotLayout, _ layout: EntityLayout
    ) throws -> BatchUpdatePlan.Change {
        if let expression = value as? NSExpression {
            guard expression.expressionType == .constantValue else { return .expression(expression) }
            return .value(try stored(expression.constantValue, slot, layout))
        }
        return .value(try stored(value, slot, layout))
    }

    /// The stored form of a batch request's value for a slot.
    static func stored(_ value: Any?, _ slot: SlotLayout, _ layout: EntityLayout) throws -> StoredValue {
        switch slot.kind {
        case .attribute(let attribute):
            let stored = StoredValue(value, for: attribute)
            if case .object(let object) = stored, let refused = object as? UnacceptableValue {
                let (code, wanted) = refused.refusal(by: attribute)
                throw unacceptable(value, slot, layout, "(\(refused.text)), where it wants \(wanted)", code: code)
            }
            return stored
        case .toOne(let relationship):
            if value == nil || value is NSNull { return .null }
            guard let identifier = (value as? NSManagedObjectID) ?? (value as? NSManagedObject)?.objectID else {
                throw unacceptable(value, slot, layout, ", where an object or an NSManagedObjectID is wanted")
            }
            guard !identifier.isTemporaryID else {
                throw unacceptable(value, slot, layout, ", an object that has not been saved")
            }
            guard identifier.layout.isKind(named: relationship.destination.name) else {
                throw unacceptable(
                    value, slot, layout,
                    ", of entity “\(identifier.layout.name)” instead of “\(relationship.destination.name)”")
            }
            return .identifier(identifier)
        }
    }

    private static func unacceptable(
        _ value: Any?, _ slot: SlotLayout, _ layout: EntityLayout, _ reason: String,
        code: Int = CoreDataErrorCode.managedObjectValidation
    ) -> NSError {
        let kind = value.map { "a \(type(of: $0))" } ?? "nil"
        return StoreError.make(
            code, "A batch request gives \(kind) for “\(layout.name).\(slot.name)” \(reason).",
            userInfo: [NSValidationKeyErrorKey: slot.name])
    }

    private static func refusal(_ description: String) -> NSError {
        StoreError.make(CoreDataErrorCode.coreData, description)
    }
}

extension EntityLayout {
    /// Whether the entity, or one that it inherits from, has a name: IDs may come from another instance of the model.
    fileprivate func isKind(named name: String) -> Bool {
        var ancestor: EntityLayout? = self
        while let current = ancestor {
            if current.name == name { return true }
            ancestor = current.superentity
        }
        return false
    }
}

extension BatchOutcome {
    /// The result of a batch request, by the raw value of its result type, which all three kinds of requests share:
    /// whether it succeeded, the IDs, or the count.
    func result(_ type: UInt) -> Any {
        switch type {
        case 1: identifiers
        case 2: NSNumber(value: count)
        default: NSNumber(value: true)
        }
    }
}
