/// A keyed container that is reused for every row.
class KeptContainer {
    let key: Any.Type

    init(key: Any.Type) { self.key = key }

    /// Shows, once this object is released, whether other code has kept the container.
    var trace: ContainerTrace { ContainerTrace(nil) }
}

final class KeptKeyedContainer<Key: CodingKey>: KeptContainer {
    let container: KeyedDecodingContainer<Key>

    init(_ container: KeyedDecodingContainer<Key>) {
        self.container = container
        super.init(key: Key.self)
    }

    override var trace: ContainerTrace {
        // A keyed container is one reference to a box around the actual container. If that ever changes, it counts as
        // kept.
        guard MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyObject>.size else {
            return ContainerTrace(nil)
        }
        return ContainerTrace(unsafeBitCast(container, to: AnyObject.self))
    }
}

/// Tells whether a container still exists. Checking its reference count instead would be wrong, since the compiler may
/// make any number of copies on the way.
struct ContainerTrace {
    private weak var box: AnyObject?
    private let isKnown: Bool

    /// - Parameter box: the container's box; `nil` if it is unknown.
    init(_ box: AnyObject?) {
        self.box = box
        isKnown = box != nil
    }

    var isThere: Bool { !isKnown || box != nil }
}
