import Foundation

/// The place of a property in an entity.
package enum PropertyIndex: Equatable, Sendable {
    /// An attribute or to-one relationship: its slot in the row.
    case slot(Int)
    /// A to-many relationship: its position among the relationships.
    case toMany(Int)
    /// A fetched property: its position among the fetched properties.
    case fetched(Int)
}

/// An entity in the form that stores and objects use: every property has a fixed place, inherited ones first, so that a
/// property has the same place in all subentities. Immutable once its model is compiled.
package final class EntityLayout: @unchecked Sendable {
    // @unchecked Sendable: only changed by `ModelLayout.init`, before anyone else sees it; `description` is frozen.
    package let name: String
    /// The name in the URIs of objects.
    let uriName: String
    /// The entity's number in a store that is made here: `Z_ENT`. In an existing store, its `Z_PRIMARYKEY` takes
    /// precedence.
    package let number: Int
    package let isAbstract: Bool
    package let superentity: EntityLayout?
    /// This entity and all its descendants, in the order of their numbers.
    package internal(set) var selfAndSubentities: [EntityLayout] = []
    /// The slots of a row.
    package let slots: [SlotLayout]
    /// The types of the attributes by slot, and no type for to-one relationships. Accessors check these first.
    package let attributeTypes: [NSAttributeType]
    /// All relationships, to-one and to-many, inherited ones first.
    package let relationships: [RelationshipLayout]
    package let fetchedProperties: [NSPropertyDescription]
    package let propertyByName: [String: PropertyIndex]
    /// The slots whose values a save must check.
    package let validatedSlots: [Int]
    /// The validated slots, if all of them only require a value; nil if one has another rule.
    package let requiredSlots: [Int]?
    /// The to-many relationships whose counts a save must check.
    package let validatedToManys: [RelationshipLayout]
    /// The slots of transient attributes.
    package let transientSlots: [Int]
    /// The transient slots with a default value, which objects from a store show, too, until another value is set.
    package let transientDefaultSlots: [Int]
    /// The slots that the store computes.
    package let derivedSlots: [Int]
    /// The to-one relationships.
    package let toOnes: [RelationshipLayout]
    /// The to-many relationships.
    package let toManys: [RelationshipLayout]
    /// The values of a new object, by slot.
    package let defaultValues: ContiguousArray<StoredValue>
    /// Sets of properties whose values must be unique together, inherited ones first.
    package let uniquenessConstraints: [[String]]
    package let description: NSEntityDescription

    private let ancestorRoot: EntityLayout?
    /// The number of the root entity.
    let rootNumber: Int
    /// A hash of the root's name, which is the same in every model of a store, whereas the numbers of the entities may
    /// differ.
    let rootHash: Int
    // Inlined accessors in other targets read these for each value. Unsafe memory: filled once, before anybody else has
    // the layout, and freed with it; it is only read within its bounds. Arrays would be retained and released for each
    // value of each object.
    @usableFromInline let placeByKey: UnsafeBufferPointer<Int32>
    @usableFromInline let typeBySlot: UnsafeBufferPointer<NSAttributeType>
    @usableFromInline static let noPlace = Int32.min

    package init(_ entity: NSEntityDescription, number: Int, superentity: EntityLayout?) {
        name = entity.name ?? ""
        uriName = name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
        self.number = number
        isAbstract = entity.isAbstract
        self.superentity = superentity
        ancestorRoot = superentity?.root
        rootNumber = superentity?.rootNumber ?? number
        rootHash = superentity?.rootHash ?? name.hashValue
        description = entity
        var slots = superentity?.slots ?? []
        var relationships = superentity?.relationships ?? []
        var fetched = superentity?.fetchedProperties ?? []
        var places = superentity?.propertyByName ?? [:]
        for property in entity.ownProperties {
            if let attribute = property as? NSAttributeDescription {
                places[property.name] = .slot(slots.count)
                slots.append(SlotLayout(attribute: attribute))
            } else if let description = property as? NSRelationshipDescription {
                let slot = description.isToMany ? -1 : slots.count
                let relationship = RelationshipLayout(description, index: relationships.count, slot: slot)
                places[property.name] = description.isToMany ? .toMany(relationships.count) : .slot(slot)
                relationships.append(relationship)
                if !description.isToMany { slots.append(SlotLayout(toOne: relationship)) }
            } else {
                places[property.name] = .fetched(fetched.count)
                fetched.append(property)
            }
        }
        self.slots = slots
        attributeTypes = slots.map { $0.attribute?.type ?? .undefinedAttributeType }
        self.relationships = relationships
        fetchedProperties = fetched
        propertyByName = places
        toOnes = relationships.filter { !$0.isToMany }
        toManys = relationships.filter(\.isToMany)
        validatedSlots = slots.indices.filter { slots[$0].needsValidation }
        transientSlots = slots.indices.filter { slots[$0].isTransient }
        requiredSlots = validatedSlots.allSatisfy { slots[$0].isRequiredOnly } ? validatedSlots : nil
        validatedToManys = relationships.filter {
            $0.isToMany
                && (!$0.isOptional || $0.minCount > 0 || $0.maxCount > 0
                    || !$0.description.validationPredicates.isEmpty)
        }
        derivedSlots = slots.indices.filter { slots[$0].attribute?.derivation != nil }
        let defaultValues = ContiguousArray(slots.map(\.defaultValue))
        self.defaultValues = defaultValues
        transientDefaultSlots = transientSlots.filter { defaultValues[$0] != .null }
        uniquenessConstraints = (superentity?.uniquenessConstraints ?? []) + entity.uniquenessConstraintNames
        placeByKey = Self.copied(Self.places(byKey: places))
        typeBySlot = Self.copied(attributeTypes)
    }

    deinit {
        placeByKey.deallocate()
        typeBySlot.deallocate()
    }

    /// Trivial values in manually allocated memory.
    private static func copied<Value>(_ values: [Value]) -> UnsafeBufferPointer<Value> {
        let memory = UnsafeMutableBufferPointer<Value>.allocate(capacity: values.count)
        _ = memory.initialize(from: values)
        return UnsafeBufferPointer(memory)
    }

    private static func places(byKey places: [String: PropertyIndex]) -> [Int32] {
        var byKey: [Int32] = []
        for (name, place) in places {
            let key = PropertyKey.intern(name)
            if byKey.count <= key { byKey += Array(repeating: noPlace, count: key + 1 - byKey.count) }
            switch place {
            case .slot(let slot): byKey[key] = Int32(slot)
            case .toMany(let index): byKey[key] = -1 - Int32(index)
            case .fetched: break
            }
        }
        return byKey
    }

    /// The entity at the top of the inheritance tree, whose table this entity shares.
    package var root: EntityLayout { ancestorRoot ?? self }

    /// The slot of an attribute or to-one relationship by its interned name; `nil` for anything else.
    @inlinable package func slotIndex(forInternedKey key: Int) -> Int? {
        guard key < placeByKey.count else { return nil }
        let place = placeByKey[key]
        return place >= 0 ? Int(place) : nil
    }

    /// Whether a slot is an attribute's with a given type.
    @inlinable package func isAttribute(_ slot: Int, _ type: NSAttributeType) -> Bool { typeBySlot[slot] == type }

    /// The to-many relationship by its interned name; `nil` for anything else.
    @inlinable package func toManyIndex(forInternedKey key: Int) -> Int? {
        guard key < placeByKey.count else { return nil }
        let place = placeByKey[key]
        return place < 0 && place != Self.noPlace ? Int(-1 - place) : nil
    }

    /// The place of the property for a key of key-value coding: the property with that name; otherwise, since
    /// accessors' names capitalise the key (`setDate:`, `isDone`, `getTitle`), the one that such a name leads to.
    package func place(forKey key: String) -> PropertyIndex? {
        if let place = propertyByName[key] { return place }
        return nameByAccessor(of: key).flatMap { propertyByName[$0] }
    }

    /// The property's name for a key of key-value coding that matches no name exactly.
    package func nameByAccessor(of key: String) -> String? {
        guard let first = key.first else { return nil }
        let rest = key.dropFirst()
        let capitalised = first.uppercased() + rest
        return [capitalised, first.lowercased() + rest, "is" + capitalised, "get" + capitalised]
            .first { propertyByName[$0] != nil }
    }

    /// The slot of an attribute or to-one relationship by name.
    package func slotIndex(forName name: String) -> Int? {
        if case .slot(let slot)? = propertyByName[name] { return slot }
        return nil
    }

    /// The relationship with a name, to-one or to-many.
    package func relationship(named name: String) -> RelationshipLayout? {
        switch propertyByName[name] {
        case .slot(let slot): return slots[slot].relationship
        case .toMany(let index): return relationships[index]
        case .fetched, nil: return nil
        }
    }

    /// The attribute, or the element of a composite attribute, at the end of keys; nil for anything else, including
    /// collection operators.
    package func attribute(at keys: [String]) -> AttributeLayout? {
        var entity: EntityLayout? = self
        var attribute: AttributeLayout?
        for key in keys {
            if let composite = attribute {
                attribute = composite.elements.first { $0.name == key }
                if attribute == nil { return nil }
                continue
            }
            guard let current = entity, let slot = current.slotIndex(forName: key) else { return nil }
            attribute = current.slots[slot].attribute
            entity = current.slots[slot].relationship?.destination
        }
        return attribute
    }

    /// What a text is read as beside the attribute that keys lead to, through relationships of any kind; nil if it
    /// remains a text.
    package func spelledKind(at keys: [String]) -> SpelledKind? {
        guard let key = keys.first else { return nil }
        if let relationship = relationship(named: key) {
            let end = relationship.destination.spelledKind(at: Array(keys.dropFirst()))
            return end.map { SpelledKind($0.value, isOfMany: $0.isOfMany || relationship.isToMany) }
        }
        guard let type = attribute(at: keys)?.type else { return nil }
        if type == .UUIDAttributeType { return SpelledKind(.uuid, isOfMany: false) }
        let isNumber = type.isNumber || type == .booleanAttributeType
        return isNumber ? SpelledKind(.number, isOfMany: false) : nil
    }

    /// Whether the entity is another one or inherits from it.
    package func isKind(of other: EntityLayout) -> Bool {
        var ancestor: EntityLayout? = self
        while let current = ancestor {
            if current === other { return true }
            ancestor = current.superentity
        }
        return false
    }
}

extension EntityLayout {
    /// The values of a row, with the defaults of transient attributes added.
    @inline(__always)
    package func withTransientDefaults(_ values: ContiguousArray<StoredValue>) -> ContiguousArray<StoredValue> {
        transientDefaultSlots.isEmpty || values.isEmpty ? values : filled(values)
    }

    @inline(never)
    private func filled(_ values: ContiguousArray<StoredValue>) -> ContiguousArray<StoredValue> {
        var values = values
        for slot in transientDefaultSlots where values[slot] == .null { values[slot] = defaultValues[slot] }
        return values
    }
}

/// A developer's store's reference for an object, in the form that IDs keep.
///
/// Two references are the same if their texts are: the number 7 and the text “7” identify one object, since the URI of
/// an ID only shows the text.
package enum ReferenceObject {
    /// The ID of an object by its reference.
    ///
    /// - Parameters:
    ///   - layout: the entity of the object.
    ///   - reference: a number, a string, a UUID, or anything else with a unique description.
    ///   - store: the store of the object.
    /// - Returns: the ID.
    package static func identifier(
        of layout: EntityLayout, reference: Any, in store: StoreIdentity
    ) -> NSManagedObjectID {
        let object = (reference as? NSObject) ?? BoxedReference(reference)
        let text = "\(object)"
        // A number is used as the key, as in our own stores, and needs no object.
        if let key = key(numbered: text) {
            return NSManagedObjectID(
                layout: layout, store: store, key: key, reference: object is NSNumber ? nil : object)
        }
        return NSManagedObjectID(layout: layout, store: store, key: digest(of: text), reference: object)
    }

    /// The reference of an ID, as the store passed it.
    package static func reference(of identifier: NSManagedObjectID) -> Any {
        guard let object = identifier.reference else { return NSNumber(value: identifier.key) }
        return (object as? BoxedReference)?.value ?? object
    }

    /// The reference for the last part of a URI: a number if it looks like one, otherwise the text.
    package static func reference(inURIKey text: Substring) -> Any {
        key(numbered: String(text)).map { NSNumber(value: $0) } ?? String(text)
    }

    private static func key(numbered text: String) -> Int64? {
        guard let key = Int64(text), key > 0, "\(key)" == text else { return nil }
        return key
    }

    /// A digest that is the same in every process, so that IDs of two coordinators can be compared.
    private static func digest(of text: String) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return Int64(bitPattern: hash)
    }
}

/// A Swift value as a reference.
private final class BoxedReference: NSObject, @unchecked Sendable {
    // @unchecked Sendable: never changed; the developer's store provides and receives the value.
    let value: Any
    init(_ value: Any) { self.value = value }
    override var description: String { "\(value)" }
}
