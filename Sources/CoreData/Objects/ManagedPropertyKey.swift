import Foundation

/// The name of a property in generated code, resolved to a number once per run of the program, so that an accessor
/// finds the value without hashing a string.
@_spi(GeneratedCode) public struct ManagedPropertyKey: Sendable {
    let name: String
    let number: Int

    /// - Parameter name: the property's name in the model.
    public init(_ name: String) {
        self.name = name
        number = PropertyKey.intern(name)
    }
}

extension NSManagedObject {
    /// The slot of an attribute or to-one relationship; `nil` for other properties, and for a probe.
    @inline(__always)
    final func slot(of key: ManagedPropertyKey) -> Int? {
        unretainedLayout._withUnsafeGuaranteedRef { $0.slotIndex(forInternedKey: key.number) }
    }

    /// The slot of an attribute, if it has the accessor's type.
    @inline(__always)
    final func slot(of key: ManagedPropertyKey, if type: NSAttributeType) -> Int? {
        guard let slot = slot(of: key),
            unretainedLayout._withUnsafeGuaranteedRef({ $0.isAttribute(slot, type) })
        else { return nil }
        return slot
    }

    /// The relationship of a key. An accessor's name does not show whether the relationship's name begins in upper case
    /// (`addToURLs`).
    final func toManyRelationship(_ key: ManagedPropertyKey) -> RelationshipLayout {
        if let index = layout.toManyIndex(forInternedKey: key.number) { return layout.relationships[index] }
        let name = key.name.prefix(1).uppercased() + key.name.dropFirst()
        if let relationship = layout.relationship(named: name), relationship.isToMany { return relationship }
        guard layout.propertyByName[key.name] != nil else { unknownKey(key.name) }
        programmerError("“\(layout.name).\(key.name)” is not a to-many relationship")
    }
}
