/// A keyed container that is handed out for every row.
class KeptContainer {
    let key: Any.Type

    init(key: Any.Type) { self.key = key }

    /// Whether somebody else has kept the container, too.
    var isShared: Bool { true }
}

final class KeptKeyedContainer<Key: CodingKey>: KeptContainer {
    private(set) var container: KeyedDecodingContainer<Key>

    init(_ container: KeyedDecodingContainer<Key>) {
        self.container = container
        super.init(key: Key.self)
    }

    override var isShared: Bool {
        // A keyed container is one reference to a box around what was made for it. Should that change, it counts as shared.
        guard MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyObject>.size else { return true }
        return withUnsafeMutablePointer(to: &container) { container in
            container.withMemoryRebound(to: AnyObject.self, capacity: 1) { !isKnownUniquelyReferenced(&$0.pointee) }
        }
    }
}
