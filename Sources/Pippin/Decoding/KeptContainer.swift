/// A keyed container that is reused for every row.
class KeptContainer {
    let key: Any.Type

    init(key: Any.Type) { self.key = key }

    /// Shows, once this object is released, whether other code has kept the container.
    var trace: ContainerTrace { ContainerTrace(nil) }
}

/// A container of a type. The parameter is the container's own type, not only its key's: `get()` then finds the type in
/// the object, where it would have to be looked up for each row.
final class KeptContainerOf<Container>: KeptContainer {
    private let container: Container

    init(_ container: Container, key: Any.Type) {
        self.container = container
        super.init(key: key)
    }

    /// The container. Neither inlined nor specialized: its caller does not have the container's type.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    func get() -> Container { container }

    override var trace: ContainerTrace {
        // A keyed container is one reference to a box around the actual container. If that ever changes, it counts as
        // kept.
        guard MemoryLayout<Container>.size == MemoryLayout<AnyObject>.size else { return ContainerTrace(nil) }
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
