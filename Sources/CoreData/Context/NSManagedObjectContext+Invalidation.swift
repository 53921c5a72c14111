import Foundation
import Synchronization

// Invalidates the objects of a removed store.
extension NSManagedObjectContext {
    /// Handles, on any queue, the removal of a store. If the caller is on the context's queue, the objects are
    /// invalidated at once; otherwise soon, on that queue.
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

    /// Removes the values of a removed store's objects. Changed objects keep them, so that the save reports the error.
    private func invalidateObjects(of store: StoreIdentity) {
        let objects = table.all.filter { $0.storeIdentity === store && !$0.hasChanges }
        guard !objects.isEmpty else { return }
        for object in objects { object.becomeFault() }
        NotificationCenter.default.post(
            name: SaveNotifications.didChange, object: self,
            userInfo: [NSInvalidatedObjectsKey: Set(objects)])
    }
}
