import Foundation
import Synchronization

/// One registration of an observer for a key path of an object.
///
/// The key path is watched at every object on its path, and at the keys on which it depends. Watches refer to the
/// registration, and the registration to its watches, until it ends.
final class ObservingRegistration: @unchecked Sendable {
    // @unchecked Sendable: variables are behind the mutex, or weak references.

    enum Receiver {
        case observer(ObserverReference, context: UnsafeMutableRawPointer?)
        case block((NSManagedObject, ChangeNotification) -> Void)
    }

    private struct Watching {
        var watches: [ObservingWatch] = []
        var hasEnded = false
    }

    private static let count = Atomic<Int>(0)

    /// Registrations are notified of a change in this order.
    let number = ObservingRegistration.count.add(1, ordering: .relaxed).newValue
    let path: ObservedPath
    let options: NSKeyValueObservingOptions
    let receiver: Receiver
    /// The observers of the observed object; the registration may outlive the object without keeping it alive.
    let rootInfo: ObservationInfo
    private(set) weak var root: NSManagedObject?
    private let watching = Mutex(Watching())

    init(
        _ root: NSManagedObject, _ path: ObservedPath, _ options: NSKeyValueObservingOptions, _ receiver: Receiver
    ) {
        self.root = root
        self.path = path
        self.options = options
        self.receiver = receiver
        rootInfo = ObservationInfo.made(for: root)
    }

    var isActive: Bool { watching.withLock { !$0.hasEnded } }

    /// Begins the observation: reports the present value, if requested, and watches.
    func begin() {
        guard let root else { return }
        if options.contains(.initial) {
            deliver(ChangeNotification(new: options.contains(.new) ? .some(path.read(root)) : nil), of: root)
        }
        watch()
    }

    /// Watches the objects that are on the path now, and no others.
    func watch() {
        guard let root else { return }
        var walk = ObservingWalk(registration: self, root: root)
        for keys in path.watched { walk.follow(keys, from: root, isOwnPath: path.name != nil) }
        let made = walk.watches
        let former = watching.withLock { watching -> [ObservingWatch]? in
            if watching.hasEnded { return nil }
            defer { watching.watches = made }
            return watching.watches
        }
        guard let former else { return }
        for watch in made { watch.info.add(watch) }
        for watch in former { watch.info.remove(watch) }
        // The registration may have ended on another thread meanwhile.
        if !isActive { for watch in made { watch.info.remove(watch) } }
    }

    /// Ends the registration; nothing is reported any more. It can be called on any thread.
    func end() {
        let former = watching.withLock { watching in
            watching.hasEnded = true
            defer { watching.watches = [] }
            return watching.watches
        }
        for watch in former { watch.info.remove(watch) }
    }

    func deliver(_ notification: ChangeNotification, of root: NSManagedObject) {
        switch receiver {
        case .block(let block): block(root, notification)
        case .observer(let reference, let context):
            // An observer that was released has thereby ended its observation.
            guard let observer = reference.observer else { return end() }
            observer.observeValue(
                forKeyPath: path.name, of: root, change: notification.dictionary, context: context)
        }
    }

    /// Whether this is a given registration of an observer.
    func belongs(to observer: any NSKeyValueObserving, _ keyPath: String) -> Bool {
        guard case .observer(let reference, _) = receiver else { return false }
        return reference.identity == ObjectIdentifier(observer) && path.name == keyPath
    }
}

/// A weak reference to an observer, with its identity, by which its `deinit` can end its registrations.
final class ObserverReference: @unchecked Sendable {
    // @unchecked Sendable: the only variable is a weak reference.

    private(set) weak var observer: (any NSKeyValueObserving)?
    let identity: ObjectIdentifier

    init(_ observer: any NSKeyValueObserving) {
        self.observer = observer
        identity = ObjectIdentifier(observer)
    }
}

/// An observed path: what to watch, and how to read the value.
struct ObservedPath {
    /// The key path as text; `nil` for a Swift key path that computes a value.
    let name: String?
    /// The keys to follow from the object: those of the name, or those on which the computed value depends.
    let watched: [[String]]
    let read: (NSManagedObject) -> Any?

    init(name: String) {
        self.name = name
        watched = [name.split(separator: ".").map(String.init)]
        read = { $0.value(forKeyPath: name) }
    }

    init(name: String?, watched: [[String]], read: @escaping (NSManagedObject) -> Any?) {
        self.name = name
        self.watched = watched
        self.read = read
    }
}

/// A key of an object on which the value of a registration depends.
final class ObservingWatch: @unchecked Sendable {
    // @unchecked Sendable: immutable; the object is used on its queue.

    let registration: ObservingRegistration
    let info: ObservationInfo
    /// The object, retained while it is on the path; `nil` for the observed one, which is not retained.
    private let passed: NSManagedObject?
    let key: String
    /// Whether the key is the last of the path, so that its changes are those of the value.
    let isEnd: Bool
    /// Whether the path continues from the value of the key.
    let leadsOn: Bool

    init(
        _ registration: ObservingRegistration, _ object: NSManagedObject, key: String, isEnd: Bool, leadsOn: Bool
    ) {
        self.registration = registration
        info = ObservationInfo.made(for: object)
        passed = object === registration.root ? nil : object
        self.key = key
        self.isEnd = isEnd
        self.leadsOn = leadsOn
    }
}

/// Finds the objects on a path, and the keys on which its keys depend.
struct ObservingWalk {
    private struct Step: Hashable {
        let object: ObjectIdentifier
        let keys: ArraySlice<String>
    }

    let registration: ObservingRegistration
    let root: NSManagedObject
    private(set) var watches: [ObservingWatch] = []
    private var seen: Set<Step> = []

    init(registration: ObservingRegistration, root: NSManagedObject) {
        self.registration = registration
        self.root = root
    }

    mutating func follow(_ keys: [String], from object: NSManagedObject, isOwnPath: Bool) {
        follow(keys[...], from: object, isOwnPath: isOwnPath)
    }

    private mutating func follow(_ keys: ArraySlice<String>, from object: NSManagedObject, isOwnPath: Bool) {
        // Keys may depend on each other.
        guard let first = keys.first, seen.insert(Step(object: ObjectIdentifier(object), keys: keys)).inserted else {
            return
        }
        let rest = keys.dropFirst()
        let key = object.observedKey(first)
        watches.append(
            ObservingWatch(
                registration, object, key: key, isEnd: isOwnPath && rest.isEmpty, leadsOn: !rest.isEmpty))
        for path in type(of: object).keyPathsForValuesAffectingValue(forKey: first).sorted() {
            follow(path.split(separator: ".").map(String.init)[...], from: object, isOwnPath: false)
        }
        guard !rest.isEmpty, let next = object.value(forKey: first) as? NSManagedObject else { return }
        follow(rest, from: next, isOwnPath: isOwnPath)
    }
}
