import Dispatch
import Foundation
import Synchronization

extension NSNotification.Name {
    /// Posted by a coordinator after this or another process has changed a store that was opened with
    /// `NSPersistentStoreRemoteChangeNotificationPostOptionKey`: on a queue of its own, some time after the change, once for several.
    ///
    /// The user info has `NSStoreUUIDKey`, `NSPersistentStoreURLKey`, and for a store with a history `NSPersistentHistoryTokenKey`.
    public static let NSPersistentStoreRemoteChange = NSNotification.Name("NSPersistentStoreRemoteChangeNotification")
}

extension NSPersistentStoreCoordinator {
    /// One queue, so that the notifications come in the order of the changes.
    private static let remoteChangeQueue = DispatchQueue(label: "NSPersistentStoreRemoteChange")

    /// In the user info of a change that a context's save has posted already, so that an observer of both can skip one.
    package static let followsSaveKey = "Pippin.followsSave"

    /// Posts the news that a store was changed, later: a save must not wait for its observers. Changes that follow within 20 ms of
    /// news are told together, by one notification: who saves often would wake this queue for each save.
    ///
    /// - Parameters:
    ///   - store: the store that was changed.
    ///   - followsSave: whether a context posts `NSManagedObjectContextDidSave` for the same change.
    func announceChange(of store: NSPersistentStore, followsSave: Bool = false) {
        guard store.engine.news != nil, let turn = store.announcements.add(followsSave: followsSave) else { return }
        switch turn {
        case .now: Self.remoteChangeQueue.async { [self] in postChanges(of: store) }
        case .at(let moment):
            // Nobody observes a coordinator that is gone.
            Self.remoteChangeQueue.asyncAfter(deadline: moment) { [weak self] in self?.postChanges(of: store) }
        }
    }

    private func postChanges(of store: NSPersistentStore) {
        let followsSave = store.announcements.take()
        guard persistentStores.contains(store) else { return }
        var info: [AnyHashable: Any] = [NSStoreUUIDKey: store.identity.uuid]
        info[NSPersistentStoreURLKey] = store.url
        if followsSave { info[Self.followsSaveKey] = true }
        info[NSPersistentHistoryTokenKey] = currentPersistentHistoryToken(fromStores: [store])
        NotificationCenter.default.post(name: .NSPersistentStoreRemoteChange, object: self, userInfo: info)
    }
}

/// The changes of one store that are yet to be announced: the first one at once, those that follow soon after it all together.
final class ChangeAnnouncements: Sendable {
    /// When to announce.
    enum Turn: Equatable {
        case now
        case at(DispatchTime)
    }

    private struct State {
        /// Whether somebody was told to announce, and has not begun.
        var isUnderWay = false
        /// Whether contexts have told of all that is to be announced.
        var followsSaves = true
        var latest: DispatchTime?
    }

    /// How long later changes wait for others.
    private let pause: DispatchTimeInterval
    private let state = Mutex(State())

    init(pause: DispatchTimeInterval = .milliseconds(20)) { self.pause = pause }

    /// Adds a change.
    ///
    /// - Parameter followsSave: whether a context tells of it.
    /// - Returns: when to announce it; nil where that is under way.
    func add(followsSave: Bool) -> Turn? {
        state.withLock { state in
            state.followsSaves = state.followsSaves && followsSave
            guard !state.isUnderWay else { return nil }
            state.isUnderWay = true
            guard let next = state.latest.map({ $0 + pause }), next > .now() else { return .now }
            return .at(next)
        }
    }

    /// Begins to announce all that was added.
    ///
    /// - Returns: whether contexts have told of all of it.
    func take() -> Bool {
        state.withLock { state in
            defer { state = State(latest: .now()) }
            return state.followsSaves
        }
    }
}
