import Dispatch
import Foundation
import StoreEngine

// Reports that stores have changed.
extension StoreSession {
    /// One queue, so that the reports are in the order of the changes.
    private static let changeQueue = DispatchQueue(label: "StoreSession.changes")

    /// Reports a changed store, later, since a save must not wait for its observers. Changes within 20 ms are reported
    /// together, so that frequent saves do not wake this queue each time.
    ///
    /// - Parameters:
    ///   - store: the changed store.
    ///   - followsSave: whether the session's `saves` report the same change.
    package func announceChange(of store: SessionStore, followsSave: Bool = false) {
        guard store.engine.changeNotifications != nil, let turn = store.announcements.add(followsSave: followsSave)
        else { return }
        switch turn {
        case .now: Self.changeQueue.async { [self] in reportChanges(of: store) }
        case .at(let moment):
            // If the session has been released, there are no listeners.
            Self.changeQueue.asyncAfter(deadline: moment) { [weak self] in self?.reportChanges(of: store) }
        }
    }

    private func reportChanges(of store: SessionStore) {
        let followSaves = store.announcements.take()
        guard withLock({ stores.contains { $0 === store } }) else { return }
        changes.notify(StoreChanges(store: store, followSaves: followSaves))
    }
}
