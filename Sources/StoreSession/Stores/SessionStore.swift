import CoreDataModel
import Dispatch
import Foundation
import StoreEngine
import Synchronization

/// A store of a session: the engine that reads and writes its rows, and the facts that both know of it.
package final class SessionStore: @unchecked Sendable {
    // @unchecked Sendable: the engine and the facts are used only under the session's lock, except for the identity,
    // which is safe to share.

    /// The name of the store's type, as in its metadata.
    package let type: String
    /// What the engine knows of the store, too.
    package let facts: StoreFacts
    package let engine: any StoreEngine
    /// Whether the engine saves rows in transactions of its own; a store that a developer wrote works with objects.
    package let savesRows: Bool
    /// The format of the store; nil for one whose type only a coordinator knows.
    package let format: (any StoreFormat.Type)?
    /// The store's changes that have not been announced yet.
    let announcements = ChangeAnnouncements()

    package init(
        type: String, facts: StoreFacts, engine: any StoreEngine, savesRows: Bool = true,
        format: (any StoreFormat.Type)? = nil
    ) {
        (self.type, self.facts, self.engine) = (type, facts, engine)
        (self.savesRows, self.format) = (savesRows, format)
    }

    /// The identity that IDs of the store's objects refer to.
    package var identity: StoreIdentity { facts.identity }

    /// The location of the store.
    package var url: URL? { facts.url }

    /// Whether the store may only be read.
    package var isReadOnly: Bool { facts.isReadOnly }

    /// Whether rows can be saved to the store.
    package var takesRows: Bool { savesRows && !isReadOnly }

    /// Whether the store's configuration includes an entity.
    package func holds(_ entity: EntityLayout, of model: NSManagedObjectModel) -> Bool {
        guard facts.configurationName != NSManagedObjectModel.defaultConfigurationName,
            let entities = model.entities(forConfigurationName: facts.configurationName)
        else { return true }
        return entities.contains { $0.name == entity.name || $0.name == entity.root.name }
    }

    /// The store for the user info of an error: as programs know it. It has none before a coordinator shows it.
    var affected: [String: Any] { identity.store.map { [NSAffectedStoresErrorKey: [$0]] } ?? [:] }
}

/// The changes of one store that have not been announced yet: the first one is announced immediately, those that follow
/// soon after it a little later.
final class ChangeAnnouncements: Sendable {
    /// When to announce.
    enum Turn: Equatable {
        case now
        case at(DispatchTime)
    }

    private struct State {
        /// Whether an announcement was scheduled and has not begun.
        var isUnderWay = false
        /// For each change, whether a context has reported it.
        var changes: [Bool] = []
        var latest: DispatchTime?
    }

    /// How long later changes wait for others.
    private let pause: DispatchTimeInterval
    private let state = Mutex(State())

    init(pause: DispatchTimeInterval = .milliseconds(20)) { self.pause = pause }

    /// Adds a change.
    ///
    /// - Parameter followsSave: whether a context reports it.
    /// - Returns: when to announce it; nil if that is scheduled already.
    func add(followsSave: Bool) -> Turn? {
        state.withLock { state in
            state.changes.append(followsSave)
            guard !state.isUnderWay else { return nil }
            state.isUnderWay = true
            guard let next = state.latest.map({ $0 + pause }), next > .now() else { return .now }
            return .at(next)
        }
    }

    /// Begins announcing all changes added so far.
    ///
    /// - Returns: for each change, in order, whether a context has reported it.
    func take() -> [Bool] {
        state.withLock { state in
            defer { state = State(latest: .now()) }
            return state.changes
        }
    }
}
