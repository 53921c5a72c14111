/// A keyed container that is handed out for every row.
class KeptContainer {
    let key: Any.Type

    init(key: Any.Type) { self.key = key }

    /// Tells, once this is gone, whether somebody else has kept the container.
    var trace: ContainerTrace { ContainerTrace(nil) }
}

final class KeptKeyedContainer<Key: CodingKey>: KeptContainer {
    let container: KeyedDecodingContainer<Key>

    init(_ container: KeyedDecodingContainer<Key>) {
        self.container = container
        super.init(key: Key.self)
    }

    override var trace: ContainerTrace {
        // A keyed container is one reference to a box around what was made for it. Should that change, it counts as kept.
        guard MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyObject>.size else {
            return ContainerTrace(nil)
        }
        return ContainerTrace(unsafeBitCast(container, to: AnyObject.self))
    }
}

/// Whether a container is still there. Asking whether it has one reference only would be wrong: how many copies the compiler makes
/// on the way is its own business.
struct ContainerTrace {
    private weak var box: AnyObject?
    private let isKnown: Bool

    /// - Parameter box: the container's box; `nil` where it is not known.
    init(_ box: AnyObject?) {
        self.box = box
        isKnown = box != nil
    }

    var isThere: Bool { !isKnown || box != nil }
}
