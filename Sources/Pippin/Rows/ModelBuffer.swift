/// A growing list of models, for code in which their type is generic.
///
/// In code that is not specialized for one type, an array looks up its own type for each added element, which took a
/// twentieth of a fetch. This memory is moved into an array once, at the end.
struct ModelBuffer<Model>: ~Copyable {
    // Unsafe memory: the first `count` of `capacity` places are initialized, and no other code has the pointer.
    private var start: UnsafeMutablePointer<Model>
    private var capacity = 64
    private var count = 0

    var isEmpty: Bool { count == 0 }

    init() { start = .allocate(capacity: capacity) }

    deinit {
        start.deinitialize(count: count)
        start.deallocate()
    }

    @inline(__always)
    mutating func append(_ model: consuming Model) {
        if count == capacity { grow() }
        (start + count).initialize(to: model)
        count += 1
    }

    private mutating func grow() {
        let larger = UnsafeMutablePointer<Model>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: start, count: count)
        start.deallocate()
        (start, capacity) = (larger, capacity * 2)
    }

    /// Moves all models out, in their order.
    mutating func take() -> [Model] {
        let taken = count
        count = 0
        return Array(unsafeUninitializedCapacity: taken) { buffer, initialized in
            buffer.baseAddress?.moveInitialize(from: start, count: taken)
            initialized = taken
        }
    }
}
