/// The change sets of a save, one for each store that it writes.
struct StoreChangeSets {
    private let contextName: String?
    private let author: String?
    /// The keys that stores have promised, by the stores' identities.
    private let promises: [ObjectIdentifier: [KeyPromise]]
    private(set) var sets: [(store: NSPersistentStore, changes: ChangeSet)] = []
    /// The set that was found last: most saves write one store.
    private var last = -1

    init(contextName: String?, author: String?, promises: [ObjectIdentifier: [KeyPromise]]) {
        (self.contextName, self.author, self.promises) = (contextName, author, promises)
    }

    /// The position of the set for an object's store.
    ///
    /// - Throws: `NSPersistentStoreSaveError` if the coordinator no longer has the store.
    mutating func position(of identifier: NSManagedObjectID) throws -> Int {
        if last >= 0, sets[last].store.identity === identifier.storeIdentity { return last }
        if let known = sets.firstIndex(where: { $0.store.identity === identifier.storeIdentity }) {
            last = known
            return known
        }
        guard let store = identifier.persistentStore else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "The store of \(identifier.description) was removed from its coordinator; the object cannot be saved.")
        }
        var changes = ChangeSet()
        changes.contextName = contextName
        changes.author = author
        changes.promises = promises[ObjectIdentifier(store.identity)] ?? []
        sets.append((store, changes))
        last = sets.count - 1
        return last
    }

    @inline(__always)
    mutating func insert(_ row: RowChange, at position: Int) { sets[position].changes.inserted.append(row) }

    @inline(__always)
    mutating func update(_ row: RowChange, at position: Int) { sets[position].changes.updated.append(row) }

    @inline(__always)
    mutating func delete(_ row: RowDeletion, at position: Int) { sets[position].changes.deleted.append(row) }
}
