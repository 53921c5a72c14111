import Foundation
import Synchronization

// Access to an object's values by slot, for the engine and generated accessors. A fault is fired first.
extension NSManagedObject {
    /// Fires the fault, and checks the queue if that was requested.
    @inline(never)
    package final func prepareToRead() {
        if state.contains(.checked) { storedContext?.checkQueue() }
        if state.contains(.fault) { fireFault() }
    }

    /// Makes the object take its values.
    @inline(never)
    package final func fireFault() {
        guard let storedContext else {
            // Without a context there is no source of values: the object shows none, and stays a fault.
            showNoValues()
            return
        }
        storedContext.fulfill(self)
    }

    final func showNoValues() {
        guard !state.contains(.hollow) else { return }
        values = layout.defaultValues
        state.remove(.valuesPending)
        state.insert(.hollow)
    }

    /// Stops the program, as Core Data does, for a key that the entity does not have.
    package final func unknownKey(_ key: String) -> Never {
        programmerError(noProperty(key))
    }

    final func noProperty(_ key: String) -> String {
        "entity “\(layout.name)” has no property “\(key)”; it has "
            + layout.propertyByName.keys.sorted().joined(separator: ", ")
    }

    /// The value of a slot, after firing the fault. Generated accessors read it.
    @inline(__always)
    package final func storedValue(at slot: Int) -> StoredValue {
        if !state.isDisjoint(with: [.fault, .checked]) { prepareToRead() }
        return values[slot]
    }

    /// Sets the value of an attribute's slot and informs the context. Generated accessors write it.
    package final func setStoredValue(_ value: StoredValue, at slot: Int) {
        let key = layout.slots[slot].name
        // This comes first because an override of `willChangeValue` may not call `super`; if it does, `super` has less
        // to do.
        willChange()
        willChangeValue(forKey: key)
        values[slot] = value
        didChangeValue(forKey: key)
    }

    /// Sets attributes of an object that was just inserted, which nobody observes yet.
    package final func setFirstValues(_ set: (inout ContiguousArray<StoredValue>) -> Void) { set(&values) }

    /// Fires the fault, and informs the context if this is the first change since changes were last processed.
    @inline(__always)
    final func willChange() {
        if !state.isDisjoint(with: [.fault, .checked]) { prepareToRead() }
        if state.isDisjoint(with: [.updatedInEvent, .insertedInEvent]) { storedContext?.objectWillChange(self) }
    }
}

// An object's ID, and its parts. No other code sets them.
extension NSManagedObject {
    /// The object's ID, which is made when it is first needed.
    package final var identifier: NSManagedObjectID {
        get { madeIdentifier.load(ordering: .acquiring)?.takeUnretainedValue() ?? makeIdentifier() }
        set {
            let former = madeIdentifier.exchange(.passRetained(newValue), ordering: .acquiringAndReleasing)
            let identity = ObjectIdentity(newValue)
            (unretainedLayout, unretainedStore, key) = (identity.layout, identity.store, identity.key)
            former?.release()
        }
    }

    /// Two threads may each make one: the first is kept.
    @inline(never)
    private final func makeIdentifier() -> NSManagedObjectID {
        let made = ObjectIdentity(layout: unretainedLayout, store: unretainedStore, key: key).objectID
        let kept = Unmanaged.passRetained(made)
        let (isFirst, other) = madeIdentifier.compareExchange(
            expected: nil, desired: kept, ordering: .acquiringAndReleasing)
        if isFirst { return made }
        kept.release()
        return other?.takeUnretainedValue() ?? made
    }

    /// The object's identity: from its ID if one was made, since the object may be in the table of a store with
    /// references; otherwise without making one.
    final var identity: ObjectIdentity {
        if let made = madeIdentifier.load(ordering: .acquiring) { return ObjectIdentity(made.takeUnretainedValue()) }
        return ObjectIdentity(layout: unretainedLayout, store: unretainedStore, key: key)
    }

    final var storeIdentity: StoreIdentity? { unretainedStore?.takeUnretainedValue() }

    /// Whether the object has no permanent ID yet.
    final var hasTemporaryID: Bool { unretainedStore == nil }

    /// Restores a temporary ID after a failed save.
    final func becomeTemporary(_ number: Int64) {
        let former = madeIdentifier.exchange(nil, ordering: .acquiringAndReleasing)
        (unretainedStore, key) = (nil, number)
        // The table may not retain the layout, which the released ID did.
        if table == nil { _ = identifier }
        former?.release()
    }

    /// The tag that distinguishes the object in a table; see `NSManagedObjectID.tableTag`.
    final var tableTag: UInt64 { ObjectIdentity.tag(unretainedLayout, unretainedStore) }

    /// The store's observer of objects that contexts register.
    final var storeObserver: (@Sendable (NSManagedObjectID, Bool) -> Void)? {
        unretainedStore?._withUnsafeGuaranteedRef { $0.observer }
    }
}

// It may be an argument of a format string, as its ID may.
extension NSManagedObject: FormatArgument {}

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
