import Foundation

extension NSManagedObject {
    /// Checks all properties: by `validateValue(_:forKey:)` if the class overrides it or has validators by name,
    /// otherwise by the model's rules.
    ///
    /// - Parameter countsAll: whether the destinations of unchanged relationships are counted, too.
    /// - Throws: the error, or one of code `NSValidationMultipleErrorsError` with all of them under
    ///   `NSDetailedErrorsKey`.
    final func validateProperties(countsAll: Bool = false) throws {
        // A program's own error keeps its type.
        var errors: [any Error] = []
        let layout = self.layout
        let isOverridden =
            ValidationOverrides.exist(in: type(of: self)) || ValidatorTable.exist(in: type(of: self))
        for slot in layout.slots.indices {
            // Only a value of a wrong type can make an unrestricted slot invalid.
            if case .object(let object) = values[slot], let wrong = object as? UnacceptableValue {
                errors.append(ValidationError.wrongType(wrong.value, slot: layout.slots[slot], object: self))
            }
        }
        if !isOverridden, !hasRequiredValues { errors += slotErrors() as [any Error] }
        for relationship in layout.validatedToManys {
            if let error = countError(of: relationship, countsAll: countsAll) { errors.append(error) }
        }
        errors += danglingReferences() as [any Error]
        let keys = type(of: self).customValidationKeys
        for key in isOverridden ? keysToValidate(countsAll: countsAll, and: keys) : keys {
            // Whether an unreadable value is valid is unknown, but it was when it was saved.
            if let slot = layout.slotIndex(forName: key), values[slot].missingExternalData != nil { continue }
            do {
                var value = modeledValue(forKey: key).map { $0 as AnyObject }
                try validateValue(&value, forKey: key)
            } catch { errors += (error as NSError).userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error] }
        }
        try ValidationError.throwIfAny(errors, object: self)
    }

    /// The errors of values that are missing, or that the model's predicates refuse.
    private func slotErrors() -> [NSError] {
        var errors: [NSError] = []
        for slot in layout.validatedSlots {
            let description = layout.slots[slot]
            if values[slot].isNull {
                if !description.isOptional, !mayBeMissing(slot) {
                    errors.append(ValidationError.missing(description.name, object: self))
                }
            } else if !description.description.validationPredicates.isEmpty, let attribute = description.attribute,
                values[slot].missingExternalData == nil
            {
                let value = values[slot].objectValue(for: attribute)
                errors += ValidationError.failures(value, of: description.description, object: self)
            }
        }
        return errors
    }

    /// Whether a required value may be missing: a derived one, which the store computes, or a transient one, which is
    /// lost once the object has been a fault.
    private func mayBeMissing(_ slot: Int) -> Bool {
        let description = layout.slots[slot]
        return description.attribute?.derivation != nil || description.isTransient && !isUnsavedInsertion
    }

    /// The properties that an override is asked about: those that the model's rules are applied to otherwise.
    private func keysToValidate(countsAll: Bool, and others: [String]) -> [String] {
        var keys: [String] = []
        for (slot, description) in layout.slots.enumerated() {
            if case .object(let object) = values[slot], object is UnacceptableValue { continue }
            if values[slot].isNull, !description.isOptional, mayBeMissing(slot) { continue }
            keys.append(description.name)
        }
        for relationship in layout.toManys
        where isUnsavedInsertion || countsAll || toManyMembersIfAny(relationship)?.hasChanges ?? false {
            keys.append(relationship.name)
        }
        return keys + others.filter { layout.propertyByName[$0] == nil }
    }

    /// Whether all required values exist, and there are no other rules for values: the usual case.
    private var hasRequiredValues: Bool {
        guard let required = layout.requiredSlots else { return false }
        for slot in required where values[slot].isNull { return false }
        return true
    }

    /// The errors of changed relationships that lead to objects which will not be saved.
    private func danglingReferences() -> [NSError] {
        guard !relations.isEmpty else { return [] }
        return layout.relationships.compactMap { relationship in
            guard !relationship.isTransient else { return nil }
            let invalid: NSManagedObject? =
                switch relations[relationship.index] {
                case .toOne(let destination?)
                where isUnsavedInsertion || snapshot[relationship.slot] != values[relationship.slot]:
                    destination.isLost(to: relationship) ? destination : nil
                case .toMany(let members): members.added.first { $0.isLost(to: relationship) }
                default: nil
                }
            return invalid.map { ValidationError.dangling(relationship, $0, object: self) }
        }
    }

    /// Whether the object is not there for a relationship once everything is saved. Where the rule is “deny”, its
    /// deletion is what cannot be saved.
    private func isLost(to relationship: RelationshipLayout) -> Bool {
        storedContext == nil || state.contains(.deleted) && relationship.inverse?.deleteRule != .denyDeleteRule
    }

    private func countError(of relationship: RelationshipLayout, countsAll: Bool) -> NSError? {
        // Unchanged relationships were valid when they were saved.
        let counts = isUnsavedInsertion || countsAll
        guard let members = toManyMembersIfAny(relationship) ?? (counts ? toManyMembers(relationship) : nil),
            members.hasChanges || counts
        else { return nil }
        let count = loadedToManyMembers(relationship).all.count { !$0.isDeleted }
        return ValidationError.count(count, of: relationship, object: self)
    }

    final func validateByModel(_ value: Any?, forKey key: String) throws {
        guard let property = layout.description.propertiesByName[key] else { unknownKey(key) }
        var errors: [NSError] = []
        if let slot = layout.slotIndex(forName: key), let attribute = layout.slots[slot].attribute,
            case .object(let object) = StoredValue(value, for: attribute), let wrong = object as? UnacceptableValue
        {
            errors.append(ValidationError.wrongType(wrong.value, slot: layout.slots[slot], object: self))
        } else if let value, !(value is NSNull) {
            errors = ValidationError.failures(value, of: property, object: self)
        } else if !property.isOptional {
            errors.append(ValidationError.missing(key, object: self))
        }
        try ValidationError.throwIfAny(errors, object: self)
    }

    final func validateDeleteRules() throws {
        var errors: [NSError] = []
        for relationship in layout.relationships where relationship.deleteRule == .denyDeleteRule {
            let count = denyingObjects(relationship).count
            if count > 0 { errors.append(ValidationError.deniedDelete(relationship, count, object: self)) }
        }
        try ValidationError.throwIfAny(errors, object: self)
    }

    /// Whether the object was deleted before it was saved, and no rule denies that, so that a save ignores it.
    final var isAwaitingRemoval: Bool {
        guard state.isSuperset(of: [.inserted, .deleted]) else { return false }
        return !layout.relationships.contains { $0.deleteRule == .denyDeleteRule && !denyingObjects($0).isEmpty }
    }

    /// The objects in a relationship that remain after the deletion, and therefore deny it.
    private func denyingObjects(_ relationship: RelationshipLayout) -> [NSManagedObject] {
        (relationship.isToMany ? toManyObjects(relationship) : toOne(relationship).map { [$0] } ?? [])
            .filter { !$0.isDeleted && $0.managedObjectContext != nil }
    }
}

/// Which classes override `validateValue(_:forKey:)`.
///
/// A class's metadata lists the methods that its objects run, those of its superclasses at the places where their
/// metadata has them, too. A class overrides the method if it has another word than `NSManagedObject` at its place.
///
/// Unsafe: it reads data written by the compiler. Later compilers keep the header, since it is part of the stable ABI.
/// The place of the method is none, so it is found by comparing.
enum ValidationOverrides {
    /// Whether a class, or a superclass below `NSManagedObject`, overrides the method.
    static func exist(in type: NSManagedObject.Type) -> Bool {
        guard let place, type != NSManagedObject.self else { return false }
        return word(of: type, at: place) != word(of: NSManagedObject.self, at: place)
    }

    /// The only place where a class that overrides just this method differs from `NSManagedObject`, and one that
    /// overrides nothing does not; `nil` if there is no such place, or several.
    private static let place: Int? = {
        #if os(Linux) || os(Android)
            let end = size(of: NSManagedObject.self)
            let places = stride(from: headerSize, to: end, by: wordSize).filter { place in
                let inherited = word(of: NSManagedObject.self, at: place)
                return word(of: OverridingProbe.self, at: place) != inherited
                    && word(of: PlainProbe.self, at: place) == inherited
            }
            return places.count == 1 ? places.first : nil
        #else
            return nil
        #endif
    }()

    // MARK: Metadata

    private static let wordSize = MemoryLayout<UInt>.size
    /// What comes before a class's own words: kind, superclass, four numbers of 32 bits and one in two halves,
    /// description, and the destructor of instance variables.
    private static let headerSize = 4 * wordSize + 24

    private static func word(of type: AnyClass, at place: Int) -> UInt {
        metadata(of: type).load(fromByteOffset: place, as: UInt.self)
    }

    /// The size of the metadata from the address of the class on.
    private static func size(of type: AnyClass) -> Int {
        let (whole, before) = (2 * wordSize + 16, 2 * wordSize + 20)
        let words = metadata(of: type)
        return Int(words.load(fromByteOffset: whole, as: UInt32.self))
            - Int(words.load(fromByteOffset: before, as: UInt32.self))
    }

    /// Without the Objective-C runtime, a reference to a class is the address of its metadata.
    private static func metadata(of type: AnyClass) -> UnsafeRawPointer {
        unsafeBitCast(type, to: UnsafeRawPointer.self)
    }
}

private class OverridingProbe: NSManagedObject {
    override func validateValue(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String) throws {}
}

private class PlainProbe: NSManagedObject {}
