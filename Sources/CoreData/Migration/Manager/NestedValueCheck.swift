import Foundation

/// Finds the elements of composite attributes that are required to read a value, and are missing: a migration in SQL
/// stops there, too.
struct NestedValueCheck {
    private var known: [ObjectIdentifier: [Nested]] = [:]

    private struct Nested {
        let slot: Int
        let attribute: AttributeLayout
    }

    /// The place of a missing element in an object, such as `address.street`; nil if there is none.
    mutating func missingElement(of object: NSManagedObject) -> String? {
        let layout = object.layout
        let nested = known[ObjectIdentifier(layout)] ?? Self.nested(in: layout)
        known[ObjectIdentifier(layout)] = nested
        return nested.lazy.compactMap { Self.missingElement(of: object.values[$0.slot], $0.attribute) }.first
    }

    private static func nested(in layout: EntityLayout) -> [Nested] {
        layout.slots.indices.compactMap { slot in
            guard let attribute = layout.slots[slot].attribute, attribute.isComposite, attribute.tellsPresence,
                !layout.slots[slot].isTransient
            else { return nil }
            return Nested(slot: slot, attribute: attribute)
        }
    }

    private static func missingElement(of value: StoredValue, _ attribute: AttributeLayout) -> String? {
        guard attribute.isAlwaysPresent || isPresent(value, attribute) else { return nil }
        for element in attribute.elements {
            let value = self.element(element, of: value)
            if element.isComposite {
                if let path = missingElement(of: value, element) { return "\(attribute.name).\(path)" }
            } else if value.isNull, !element.description.isOptional {
                return "\(attribute.name).\(element.name)"
            }
        }
        return nil
    }

    /// Whether any part of a value is there.
    private static func isPresent(_ value: StoredValue, _ attribute: AttributeLayout) -> Bool {
        attribute.elements.contains { element in
            let value = self.element(element, of: value)
            return element.isComposite ? isPresent(value, element) : !value.isNull
        }
    }

    private static func element(_ element: AttributeLayout, of value: StoredValue) -> StoredValue {
        guard case .object(let composite as CompositeValue) = value else { return .null }
        return composite.stored(element)
    }
}
