/// The stores to which objects are assigned until they are saved.
///
/// An assignment ends with its object: another one may get its address.
struct AssignedStores {
    private struct Assignment {
        weak var object: NSManagedObject?
        let store: NSPersistentStore
    }

    private var assignments: [ObjectIdentifier: Assignment] = [:]

    var isEmpty: Bool { assignments.isEmpty }

    subscript(object: NSManagedObject) -> NSPersistentStore? {
        get {
            guard !assignments.isEmpty, let found = assignments[ObjectIdentifier(object)], found.object === object
            else { return nil }
            return found.store
        }
        set { assignments[ObjectIdentifier(object)] = newValue.map { Assignment(object: object, store: $0) } }
    }

    /// The stores by object, of objects that there are. The caller holds those that it asks for.
    var stores: [ObjectIdentifier: NSPersistentStore] {
        assignments.isEmpty ? [:] : assignments.filter { $0.value.object != nil }.mapValues(\.store)
    }
}
