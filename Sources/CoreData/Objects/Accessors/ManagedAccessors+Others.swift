import Foundation

// Called by generated accessors for all types without an overload of their own: numbers as objects, URLs, transformable
// values, enumerations. They are slower, since they use key-value coding.
@_spi(GeneratedCode) extension NSManagedObject {
    // Disfavored, since overloads that differ only in their result type are not ranked by specificity.

    /// The value of the key, in the property's declared type.
    ///
    /// - Parameter key: the property.
    /// - Returns: the value; `nil` for none if the type is optional.
    @_disfavoredOverload
    public final func managedValue<Value>(_ key: ManagedPropertyKey) -> Value {
        otherValue(key)
    }

    /// Sets the value of the key.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - key: the property.
    @_disfavoredOverload
    public final func setManagedValue<Value>(_ value: Value, _ key: ManagedPropertyKey) {
        setOtherValue(value, key)
    }

    /// The value of the key for a property whose type has values of many kinds: `NSObject?`, `Any`, `(any NSCoding)?`.
    ///
    /// - Parameter key: the property.
    /// - Returns: the value; `nil` for none if the type is optional.
    public final func managedAnyValue<Value>(_ key: ManagedPropertyKey) -> Value { otherValue(key) }

    /// Sets the value of the key for a property of such a type.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - key: the property.
    public final func setManagedAnyValue<Value>(_ value: Value, _ key: ManagedPropertyKey) { setOtherValue(value, key) }

    /// The enumeration case of the key, whose raw value is stored. A missing value counts as zero or the empty string.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the case; for a missing or unknown value, the case of zero or the empty string.
    public final func managedValue<Value: RawRepresentable>(_ key: ManagedPropertyKey) -> Value {
        if state.contains(.probe) { return otherValue(key) }
        if let value: Value = managedValue(key) { return value }
        let raw = NSNumber(value: 0) as? Value.RawValue ?? "" as? Value.RawValue
        return raw.flatMap(Value.init(rawValue:)) ?? missing(key)
    }

    /// Sets the enumeration case of the key.
    ///
    /// - Parameters:
    ///   - value: the case.
    ///   - key: the attribute.
    public final func setManagedValue<Value: RawRepresentable>(_ value: Value, _ key: ManagedPropertyKey) {
        let isTransformable = slot(of: key).map { layout.attributeTypes[$0] == .transformableAttributeType } ?? false
        setOtherValue(isTransformable ? value as Any : value.rawValue, key)
    }

    /// The enumeration case of the key, whose raw value is stored; `nil` also for a value without a case, which is
    /// reported.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the case; `nil` for a missing or unknown value.
    public final func managedValue<Value: RawRepresentable>(_ key: ManagedPropertyKey) -> Value? {
        guard !state.contains(.probe) else { return otherValue(key) }
        guard let value = anyValue(key) else { return nil }
        if let value = value as? Value { return value }
        guard let raw = value as? Value.RawValue else { return mismatch(value, key) }
        guard let value = Value(rawValue: raw) else {
            // A newer version of the program may have more cases. The stored value stays.
            let reason = "\(raw) is not a case of \(Value.self)"
            storedContext?.report(
                "“\(layout.name).\(key.name)” is shown without a value",
                StoreError.make(CoreDataErrorCode.managedObjectValidation, reason))
            return nil
        }
        return value
    }

    /// Sets the enumeration case of the key.
    ///
    /// - Parameters:
    ///   - value: the case; `nil` for no value.
    ///   - key: the attribute.
    public final func setManagedValue<Value: RawRepresentable>(_ value: Value?, _ key: ManagedPropertyKey) {
        if let value { setManagedValue(value, key) } else { setOtherValue(value, key) }
    }

    /// The value in memory, without firing a fault: the result of a method `primitiveName()`.
    ///
    /// - Parameter key: the property.
    /// - Returns: the object's value in memory.
    public final func managedPrimitiveValue<Value>(for key: ManagedPropertyKey) -> Value {
        cast(primitiveValue(forKey: key.name), key, isPrimitive: true)
    }

    /// Sets a value without informing the context, as a method `setPrimitiveName(_:)` does.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - key: the property.
    public final func setManagedPrimitiveValue<Value>(_ value: Value, for key: ManagedPropertyKey) {
        setPrimitiveValue(value, forKey: key.name)
    }
}

extension NSManagedObject {
    /// The value of any property, in the type that an accessor returns; records the key if this is a probe.
    @inline(never)
    final func otherValue<Value>(_ key: ManagedPropertyKey) -> Value {
        if state.contains(.probe) {
            KeyPathProbe.record(key.name, of: self, as: Value.self)
            if let value: Value = KeyPathProbe.standIn() { return value }
            if !KeyPathProbe.isRecording { return missing(key) }
            programmerError(
                "a key path through “\(key.name)” of type \(Value.self) has no name here; use the key as a string")
        }
        return cast(anyValue(key), key)
    }

    /// Sets any property, according to its kind.
    @inline(never)
    final func setOtherValue(_ value: Any?, _ key: ManagedPropertyKey) {
        guard !state.contains(.probe) else { return }
        if layout.propertyByName[key.name] == nil, let primitive = primitiveKey(key.name) {
            setPrimitiveValue(value, forKey: primitive)
        } else {
            setModeledValue(value, forKey: key.name)
        }
    }

    private final func anyValue(_ key: ManagedPropertyKey) -> Any? {
        if layout.propertyByName[key.name] == nil, let primitive = primitiveKey(key.name) {
            return primitiveValue(forKey: primitive)
        }
        return modeledValue(forKey: key.name)
    }

    /// `name` for `primitiveName`: subclasses declare such properties to access primitive values.
    private final func primitiveKey(_ key: String) -> String? {
        guard key.hasPrefix("primitive") else { return nil }
        let rest = key.dropFirst("primitive".count)
        let name = rest.prefix(1).lowercased() + rest.dropFirst()
        return layout.propertyByName[name] == nil ? layout.nameByAccessor(of: name) : name
    }

    private final func cast<Value>(_ value: Any?, _ key: ManagedPropertyKey, isPrimitive: Bool = false) -> Value {
        if let value = value as? Value { return value }
        // Swift code for Apple's platforms may declare an ordered relationship as an array.
        if let members = value as? NSOrderedSet, let array = members.array as? Value { return array }
        guard let value else { return emptyValue() ?? missing(key) }
        return changeableMembers(key, isPrimitive: isPrimitive) ?? mismatch(value, key)
    }

    /// The members of a to-many relationship for a property that is declared as a set to be changed in place, which
    /// Core Data's sets are.
    private final func changeableMembers<Value>(_ key: ManagedPropertyKey, isPrimitive: Bool) -> Value? {
        // A Swift set that is made of it would be empty.
        switch Value.self {
        case is NSMutableSet.Type, is NSMutableSet?.Type: break
        case is NSMutableOrderedSet.Type, is NSMutableOrderedSet?.Type: break
        default: return nil
        }
        let primitive = layout.propertyByName[key.name] == nil ? primitiveKey(key.name) : nil
        guard case .toMany(let index)? = layout.place(forKey: primitive ?? key.name) else { return nil }
        let relationship = layout.relationships[index]
        let isPrimitive = isPrimitive || primitive != nil
        let set: NSObject =
            relationship.isOrdered
            ? MutableRelationshipOrderedSet(self, relationship, isPrimitive: isPrimitive)
            : MutableRelationshipSet(self, relationship, isPrimitive: isPrimitive)
        return set as? Value
    }

    /// Stops the program because the value is not of the property's declared type.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    final func mismatch<Value>(_ value: Any, _ key: ManagedPropertyKey) -> Value {
        programmerError(
            "“\(layout.name).\(key.name)” is of type \(type(of: value)), but class “\(type(of: self))” declares it as "
                + "\(Value.self)")
    }

    /// Stops the program because a property that is not declared optional has no value.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    final func missing<Value>(_ key: ManagedPropertyKey) -> Value {
        programmerError(
            "“\(layout.name).\(key.name)” has no value, but class “\(type(of: self))” declares it as \(Value.self): "
                + "make the property optional, or give the attribute a default value")
    }
}

/// The set returned by `mutableSetValue(forKey:)`, and by accessors that are declared as `NSMutableSet`: changes to it
/// are changes of the relationship.
final class MutableRelationshipSet: NSMutableSet {
    private let object: NSManagedObject
    private let relationship: RelationshipLayout
    /// Whether this is the primitive value, whose user notifies observers.
    private let isPrimitive: Bool

    init(_ object: NSManagedObject, _ relationship: RelationshipLayout, isPrimitive: Bool = false) {
        self.object = object
        self.relationship = relationship
        self.isPrimitive = isPrimitive
        super.init(capacity: 0)
    }

    required init(capacity numItems: Int) {
        programmerError("a relationship's set is made by mutableSetValue(forKey:)")
    }

    required init?(coder aDecoder: NSCoder) { nil }

    private var members: ToManyMembers {
        if object.isFault { object.fireFault() }
        return object.loadedToManyMembers(relationship)
    }

    override var count: Int { members.members.count }

    override func member(_ object: Any) -> Any? {
        guard let object = object as? NSManagedObject, members.contains(object) else { return nil }
        return object
    }

    override func objectEnumerator() -> NSEnumerator { NSArray(array: members.all).objectEnumerator() }

    override var allObjects: [Any] { members.all }

    override func add(_ object: Any) {
        guard let added = object as? NSManagedObject else { return refuse(object) }
        change { self.object.addToMany(relationship, added) }
    }

    override func remove(_ object: Any) {
        guard let removed = object as? NSManagedObject else { return }
        change { self.object.removeFromToMany(relationship, removed) }
    }

    // Many members are one change for observers.

    override func removeAllObjects() { removeAll(members.all) }

    override func addObjects(from array: [Any]) { addAll(array) }

    override func union(_ otherSet: Set<AnyHashable>) { addAll(otherSet.map(\.base)) }

    override func minus(_ otherSet: Set<AnyHashable>) {
        let members = members
        removeAll(otherSet.compactMap { $0.base as? NSManagedObject }.filter(members.contains))
    }

    override func intersect(_ otherSet: Set<AnyHashable>) {
        removeAll(members.all.filter { !otherSet.contains($0) })
    }

    override func setSet(_ otherSet: Set<AnyHashable>) {
        let wanted = otherSet.compactMap { added($0.base) }
        change { object.setToMany(relationship, to: wanted) }
    }

    private func addAll(_ objects: [Any]) {
        let new = objects.compactMap(added)
        change { object.addToMany(relationship, all: new) }
    }

    private func removeAll(_ removed: [NSManagedObject]) {
        change { object.removeFromToMany(relationship, all: removed) }
    }

    private func change(_ body: () -> Void) {
        if isPrimitive { object.withoutNotifying(relationship.name, body) } else { body() }
    }

    /// An object that is to be a member.
    private func added(_ object: Any) -> NSManagedObject? {
        if let object = object as? NSManagedObject { return object }
        refuse(object)
        return nil
    }

    private func refuse(_ value: Any) {
        programmerError(
            "“\(object.layout.name).\(relationship.name)” holds \(relationship.destination.name) objects, not a "
                + "\(type(of: value))")
    }
}

extension NSManagedObject {
    final func makeMutableSet(_ key: String) -> NSMutableSet {
        MutableRelationshipSet(self, toManyRelationship(key))
    }

    final func makeMutableOrderedSet(_ key: String) -> NSMutableOrderedSet {
        let relationship = toManyRelationship(key)
        if !relationship.isOrdered {
            programmerError("“\(layout.name).\(key)” is not ordered; use mutableSetValue(forKey:)")
        }
        return storedContext?.kept(of: self, relationship) ?? MutableRelationshipOrderedSet(self, relationship)
    }

    private func toManyRelationship(_ key: String) -> RelationshipLayout {
        let name = layout.propertyByName[key] == nil ? layout.nameByAccessor(of: key) ?? key : key
        guard let relationship = layout.relationship(named: name) else { unknownKey(key) }
        if !relationship.isToMany { programmerError("“\(layout.name).\(key)” is a to-one relationship") }
        return relationship
    }
}
