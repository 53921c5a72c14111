import Foundation

// A store that is removed takes its objects along.
extension NSManagedObjectContext {
    /// Hears, on any queue, that a store was removed. A caller on the context's queue finds its objects invalidated; the
    /// others are on theirs soon after.
    func storeWasRemoved(_ store: StoreIdentity) {
        if table.holdsObjects(of: store) {
            if queue.isCurrent {
                invalidateObjects(of: store)
            } else {
                queue.async { [table] in table.context?.invalidateObjects(of: store) }
            }
        }
        for child in children.withLock({ $0.compactMap(\.table.context) }) { child.storeWasRemoved(store) }
    }

    /// Takes the values of a removed store's objects away. Those with changes keep them, for the save to say what is wrong.
    private func invalidateObjects(of store: StoreIdentity) {
        let objects = table.all.filter { $0.storeIdentity === store && !$0.hasChanges }
        guard !objects.isEmpty else { return }
        for object in objects { object.becomeFault() }
        NotificationCenter.default.post(
            name: SaveNews.didChange, object: self,
            userInfo: [NSInvalidatedObjectsKey: Set(objects)])
    }
}
