// How the engine and generated accessors reach an object's values: by slot, the fault fired first.
extension NSManagedObject {
    /// Fires the fault, and has the use checked where that was asked for.
    @inline(never)
    package final func prepareToRead() {
        if state.contains(.checked) { storedContext?.checkQueue() }
        if state.contains(.fault) { fireFault() }
    }

    /// Makes the object take its values.
    @inline(never)
    package final func fireFault() {
        guard let storedContext else {
            // Without a context there is nowhere to take values from: the object shows none, and stays a fault.
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

    /// The value of a slot, with the fault fired. What generated accessors read.
    @inline(__always)
    package final func storedValue(at slot: Int) -> StoredValue {
        if !state.isDisjoint(with: [.fault, .checked]) { prepareToRead() }
        return values[slot]
    }

    /// Sets the value of an attribute's slot and tells the context. What generated accessors write.
    package final func setStoredValue(_ value: StoredValue, at slot: Int) {
        let key = layout.slots[slot].name
        // First: an override of `willChangeValue` may not call `super`, and `super` has less to find out then.
        willChange()
        willChangeValue(forKey: key)
        values[slot] = value
        didChangeValue(forKey: key)
    }

    /// Fires the fault, and tells the context of the first change since changes were last processed.
    @inline(__always)
    final func willChange() {
        if !state.isDisjoint(with: [.fault, .checked]) { prepareToRead() }
        if state.isDisjoint(with: [.updatedInEvent, .insertedInEvent]) { storedContext?.objectWillChange(self) }
    }
}
