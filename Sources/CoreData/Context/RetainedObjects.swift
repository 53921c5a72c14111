/// All objects of a context, if it keeps them alive.
struct RetainedObjects {
    private(set) var isActive = false
    private var objects: Set<NSManagedObject> = []

    /// Begins or ends to keep objects alive.
    ///
    /// - Parameter all: the objects of the context; `nil` to keep none.
    mutating func keep(_ all: [NSManagedObject]?) {
        isActive = all != nil
        objects = Set(all ?? [])
    }

    @inline(__always)
    mutating func insert(_ object: NSManagedObject) { if isActive { objects.insert(object) } }

    mutating func remove(_ object: NSManagedObject) { if !objects.isEmpty { objects.remove(object) } }

    /// Releases the objects of a context that forgets all. Later ones are kept again.
    mutating func reset() { objects = [] }
}
