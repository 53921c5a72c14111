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
