import Foundation
import Synchronization

/// The observers of an object. Objects without observers have none.
final class ObservationInfo: @unchecked Sendable {
    // @unchecked Sendable: the watches are behind a mutex, since observers may be released on any thread; everything
    // else is only used on the object's queue.

    /// The observers to notify of a change that has begun, and the change.
    typealias PendingNotifications = [(watch: ObservingWatch, notification: ChangeNotification)]

    private let watches = Mutex<[ObservingWatch]>([])
    private var pending: [(key: String, notifications: PendingNotifications)] = []
    /// The change for which `willChangeValue(forKey:)` is about to be called, if it is known.
    var announced: ObservedChange?
    /// The keys whose changes are not reported, since they are part of an announced change.
    private var suppressedKeys: [String] = []
    /// Whether the object is taking other values as a whole; see `NSManagedObject.notifyingObservers`.
    var isTakingValues = false

    // MARK: By object

    private static let all = Mutex<[ObjectIdentifier: ObservationInfo]>([:])

    /// The observers of an object that has the state `observed`.
    static func of(_ object: NSManagedObject) -> ObservationInfo? {
        let identity = ObjectIdentifier(object)
        return all.withLock { $0[identity] }
    }

    static func made(for object: NSManagedObject) -> ObservationInfo {
        object.state.insert(.observed)
        let identity = ObjectIdentifier(object)
        return all.withLock { all in
            if let info = all[identity] { return info }
            let info = ObservationInfo()
            all[identity] = info
            return info
        }
    }

    /// Ends all observations of an object that is being released.
    static func forget(_ object: NSManagedObject) {
        let identity = ObjectIdentifier(object)
        guard let info = all.withLock({ $0.removeValue(forKey: identity) }) else { return }
        for registration in info.ownRegistrations { registration.end() }
    }

    // MARK: Watches

    func add(_ watch: ObservingWatch) { watches.withLock { $0.append(watch) } }

    func remove(_ watch: ObservingWatch) {
        // Released outside the lock: this may release the last reference to an object, whose `deinit` takes locks.
        _ = watches.withLock { watches in
            watches.firstIndex { $0 === watch }.map { watches.remove(at: $0) }
        }
    }

    private var current: [ObservingWatch] { watches.withLock(\.self) }

    var isObserved: Bool { watches.withLock { !$0.isEmpty } }

    /// The registrations for the object itself, in their order.
    var ownRegistrations: [ObservingRegistration] {
        var seen: Set<Int> = []
        return current.map(\.registration).filter { $0.rootInfo === self && seen.insert($0.number).inserted }
            .sorted { $0.number < $1.number }
    }

    /// The watched keys, each once.
    var keys: [String] {
        var seen: Set<String> = []
        return current.sorted { $0.registration.number < $1.registration.number }.map(\.key)
            .filter { seen.insert($0).inserted }
    }

    /// The watches to notify of a change of keys, one for each registration: preferably the one whose path ends with
    /// the key.
    private func watches(of isConcerned: (String) -> Bool) -> [ObservingWatch] {
        let concerned = current.filter { isConcerned($0.key) }
        if concerned.count < 2 { return concerned }
        var places: [Int: Int] = [:]
        var result: [ObservingWatch] = []
        for watch in concerned.sorted(by: { $0.registration.number < $1.registration.number }) {
            guard let place = places[watch.registration.number] else {
                places[watch.registration.number] = result.count
                result.append(watch)
                continue
            }
            if watch.leadsOn || (watch.isEnd && !result[place].leadsOn) { result[place] = watch }
        }
        return result
    }

    // MARK: Changes

    /// Suppresses notifications for a key until `resumeNotifications(for:)` is called the same number of times.
    func suppressNotifications(for key: String) { suppressedKeys.append(key) }

    func resumeNotifications(for key: String) {
        if let place = suppressedKeys.lastIndex(of: key) { suppressedKeys.remove(at: place) }
    }

    func willChange(_ key: String, of object: NSManagedObject, _ change: ObservedChange) {
        if suppressedKeys.contains(key) { return }
        if case .nothing = change { return pending.append((key, [])) }
        let notifications = begin(change) { $0 == key }
        pending.append((key, notifications))
    }

    func didChange(_ key: String, of object: NSManagedObject) {
        if suppressedKeys.contains(key) { return }
        guard let place = pending.lastIndex(where: { $0.key == key }) else { return }
        finish(pending.remove(at: place).notifications) { object.members(ofOrdered: key, at: $0) }
    }

    /// Notifies observers that want a notification before a change of keys.
    ///
    /// - Returns: the observers to notify afterwards.
    func begin(_ change: ObservedChange = .setting, of isConcerned: (String) -> Bool) -> PendingNotifications {
        var notifications: PendingNotifications = []
        for watch in watches(of: isConcerned) {
            let registration = watch.registration
            guard registration.isActive, let root = registration.root else { continue }
            var notification = ChangeNotification(watch.isEnd ? change : .setting)
            if !registration.options.contains(.old) {
                notification.old = nil
            } else if notification.kind == .setting {
                notification.old = .some(registration.path.read(root))
            }
            if registration.options.contains(.prior) {
                var prior = notification
                prior.isPrior = true
                prior.new = nil
                registration.deliver(prior, of: root)
            }
            notifications.append((watch, notification))
        }
        return notifications
    }

    /// Notifies observers of a change that was made.
    ///
    /// - Parameters:
    ///   - notifications: the observers to notify.
    ///   - members: returns the changed members of an ordered relationship, by their indexes.
    func finish(_ notifications: PendingNotifications, members: (IndexSet) -> NSArray? = { _ in nil }) {
        for (watch, _) in notifications where watch.leadsOn { watch.registration.watch() }
        for (watch, notification) in notifications {
            let registration = watch.registration
            guard registration.isActive, let root = registration.root else { continue }
            var notification = notification
            if !registration.options.contains(.new) {
                notification.new = nil
            } else if notification.kind == .setting {
                notification.new = .some(registration.path.read(root))
            } else if notification.kind != .removal, notification.new == nil, let indexes = notification.indexes {
                notification.new = members(indexes).map { .some($0) }
            }
            registration.deliver(notification, of: root)
        }
    }
}

extension ChangeNotification {
    fileprivate init(_ change: ObservedChange) {
        guard case .members(let kind, let old, let new, let indexes) = change else { return }
        self.kind = kind
        self.old = old.map { .some($0) }
        self.new = new.map { .some($0) }
        self.indexes = indexes
    }
}
