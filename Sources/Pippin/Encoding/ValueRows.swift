import StoreSession

/// The values of models, one model after the other. They are appended and set first, and only read afterwards.
///
/// It has memory of its own, since an array checks for unique ownership whenever a value is set. One thread at a time
/// uses it until the last value is set.
final class ValueRows {
    // Unsafe memory: the first `count` values are initialized, and every access is checked against `count`. Accesses
    // are not checked for overlaps: only one thread at a time uses this.
    @exclusivity(unchecked) private var start: UnsafeMutablePointer<StoredValue>
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var capacity: Int

    /// - Parameter nulls: how many values there are at first.
    init(nulls: Int = 0) {
        capacity = max(nulls, 8)
        start = .allocate(capacity: capacity)
        append(nulls: nulls)
    }

    deinit {
        start.deinitialize(count: count)
        start.deallocate()
    }

    /// Makes room for more values.
    func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        capacity = max(2 * capacity, count + more)
        let larger = UnsafeMutablePointer<StoredValue>.allocate(capacity: capacity)
        larger.moveInitialize(from: start, count: count)
        start.deallocate()
        start = larger
    }

    /// Appends values that are `.null`.
    func append(nulls: Int) {
        reserve(nulls)
        (start + count).initialize(repeating: .null, count: nulls)
        count += nulls
    }

    /// Removes all values, and keeps the memory.
    func removeAll() {
        start.deinitialize(count: count)
        count = 0
    }

    @inline(__always)
    subscript(place: Int) -> StoredValue {
        get {
            precondition(place >= 0 && place < count, "A place among the values")
            return start[place]
        }
        set {
            precondition(place >= 0 && place < count, "A place among the values")
            start[place] = newValue
        }
    }

    /// Some of the values as an array.
    subscript(places: Range<Int>) -> ContiguousArray<StoredValue> {
        precondition(places.lowerBound >= 0 && places.upperBound <= count, "Places among the values")
        return ContiguousArray(UnsafeBufferPointer(start: start + places.lowerBound, count: places.count))
    }
}
