import Foundation

// Both may be arguments of format strings.
extension NSManagedObject: FormatArgument {}
extension NSManagedObjectID: FormatArgument {}

// Predicates read managed objects by slot, without boxing values.
extension NSManagedObject: KeyValueCoding, KeyedOperand {
    package final func operand(forKey key: OperandKey) -> Value {
        guard let number = key.number, let slot = layout.slotIndex(forInternedKey: number) else {
            return operand(forKey: key.name)
        }
        return operand(at: slot)
    }

    package final func operand(forKey key: String) -> Value {
        guard let place = layout.propertyByName[key] else {
            if key == "self" || key == "objectID" { return .object(self) }
            if key == "entity" { return Value(entity) }
            // Only objects of other entities of its kind have the property.
            if layout.root.owner(ofProperty: key) != nil { return .null }
            // A class may have more keys than its entity.
            return Value(value(forKey: key))
        }
        switch place {
        case .slot(let slot): return operand(at: slot)
        case .toMany(let index):
            return .collection(toManyObjects(layout.relationships[index]).map { .object($0) })
        case .fetched:
            return Value(modeledValue(forKey: key))
        }
    }

    /// A class of the program's may have more keys than its entity; whether it accepts one is only known when it is
    /// asked.
    package final func obstacle(toKey key: String) -> String? {
        let isKnown =
            layout.propertyByName[key] != nil || ["self", "objectID", "entity"].contains(key)
            || layout.root.owner(ofProperty: key) != nil || type(of: self) != NSManagedObject.self
        return isKnown ? nil : noProperty(key)
    }

    package final func leadsToMany(_ keys: [String]) -> Bool { PredicateKeys.leadsToMany(keys, from: layout) }

    package final func endsToMany(_ keys: [String]) -> Bool { PredicateKeys.endsToMany(keys, from: layout) }

    package final var orderKey: Int64? { identifier.orderKey }

    /// The value of an attribute or to-one relationship. The usual values need no conversion for any type of attribute.
    private final func operand(at slot: Int) -> Value {
        switch storedValue(at: slot) {
        case .integer(let number): return .integer(number)
        case .double(let number): return .double(number)
        case .string(let string): return .string(string)
        case let value:
            switch layout.slots[slot].kind {
            case .attribute(let attribute): return value.operand(for: attribute)
            case .toOne(let relationship): return toOne(relationship).map { .object($0) } ?? .null
            }
        }
    }

    /// In a predicate, an object equals its ID.
    package final var operandIdentity: NSObject { identifier }
}

extension NSManagedObjectID: KeyedOperand {
    package final func operand(forKey key: String) -> Value {
        if key == "self" || key == "objectID" { return .object(self) }
        programmerError(noValues(key))
    }

    package func obstacle(toKey key: String) -> String? {
        key == "self" || key == "objectID" ? nil : noValues(key)
    }

    /// Objects that were never saved come last, in the order in which they were inserted.
    package final var orderKey: Int64? { isTemporaryID ? Self.greatestKey &+ key : key }

    private func noValues(_ key: String) -> String {
        "a predicate reads “\(key)” of the ID \(description); an ID has no values. Use the object instead."
    }
}

extension StoredValue {
    /// The value in the form that predicates compare.
    func operand(for attribute: AttributeLayout) -> Value {
        switch self {
        case .null: return .null
        case .integer(let number): return .integer(number)
        case .double(let number): return .double(number)
        case .string(let string): return .string(string)
        case .date(let seconds): return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let data): return .data(data)
        case .uuid(let uuid): return .uuid(uuid)
        case .identifier(let identifier): return .object(identifier)
        case .object: return Value(objectValue(for: attribute))
        }
    }
}
