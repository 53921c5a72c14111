import Ordering

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

    /// Fires the fault, and informs the context if this is the first change since changes were last processed.
    @inline(__always)
    final func willChange() {
        if !state.isDisjoint(with: [.fault, .checked]) { prepareToRead() }
        if state.isDisjoint(with: [.updatedInEvent, .insertedInEvent]) { storedContext?.objectWillChange(self) }
    }
}
