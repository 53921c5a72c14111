import Synchronization

/// An object that is made when a thread first needs it, and then kept.
///
/// The standard library's `AtomicLazyReference` does the same in generic code that looks its type up with each load,
/// which took half of the time of evaluating a predicate.
struct LazyReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
    /// The object's address, which holds one reference; 0 for none.
    private let address = Atomic<UInt>(0)

    /// The object, if it has been made. It lives as long as this value.
    @inline(__always)
    var unretained: Unmanaged<Object>? {
        UnsafeRawPointer(bitPattern: address.load(ordering: .acquiring)).map { Unmanaged.fromOpaque($0) }
    }

    /// Stores an object, unless there is one already.
    ///
    /// - Returns: the stored object.
    func storeIfNil(_ object: Object) -> Object {
        let reference = Unmanaged.passRetained(object)
        let new = UInt(bitPattern: reference.toOpaque())
        let (stored, _) = address.compareExchange(expected: 0, desired: new, ordering: .acquiringAndReleasing)
        if stored { return object }
        reference.release()
        return unretained?.takeUnretainedValue() ?? object
    }

    deinit { unretained?.release() }
}
