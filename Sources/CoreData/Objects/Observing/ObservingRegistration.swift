import Foundation
import Synchronization

/// One registration of an observer for a key path of an object.
///
/// The key path is watched at every object that it leads through, and at what it depends on. Watches refer to the registration, and the
/// registration to its watches, until it ends.
final class ObservingRegistration: @unchecked Sendable {
    // @unchecked Sendable: what changes is behind the mutex, or a weak reference.

    enum Receiver {
        case observer(ObserverReference, context: UnsafeMutableRawPointer?)
        case block((NSManagedObject, ObservedNews) -> Void)
    }

    private struct Watching {
        var watches: [ObservingWatch] = []
        var hasEnded = false
    }

    private static let count = Atomic<Int>(0)

    /// Registrations are told of a change in this order.
    let number = ObservingRegistration.count.add(1, ordering: .relaxed).newValue
    let path: ObservedPath
    let options: NSKeyValueObservingOptions
    let receiver: Receiver
    /// What is known of the observed object's observers; the registration outlives the object without keeping it.
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

    /// Begins: tells the present value, where that was asked for, and watches.
    func begin() {
        guard let root else { return }
        if options.contains(.initial) {
            deliver(ObservedNews(new: options.contains(.new) ? .some(path.read(root)) : nil), of: root)
        }
        watch()
    }

    /// Watches the objects that the path leads through now, and no others.
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
        // It may have ended on another thread meanwhile.
        if !isActive { for watch in made { watch.info.remove(watch) } }
    }

    /// Ends the registration; nothing is told any more. On any thread.
    func end() {
        let former = watching.withLock { watching in
            watching.hasEnded = true
            defer { watching.watches = [] }
            return watching.watches
        }
        for watch in former { watch.info.remove(watch) }
    }

    func deliver(_ news: ObservedNews, of root: NSManagedObject) {
        switch receiver {
        case .block(let block): block(root, news)
        case .observer(let reference, let context):
            // An observer that is gone without a word has ended its observation.
            guard let observer = reference.observer else { return end() }
            observer.observeValue(
                forKeyPath: path.name, of: root, change: news.dictionary, context: context)
        }
    }

    /// Whether this is what an observer registered.
    func belongs(to observer: any NSKeyValueObserving, _ keyPath: String) -> Bool {
        guard case .observer(let reference, _) = receiver else { return false }
        return reference.identity == ObjectIdentifier(observer) && path.name == keyPath
    }
}

/// An observer, which is not kept alive; and who it was, for its `deinit` to end what it registered.
final class ObserverReference: @unchecked Sendable {
    // @unchecked Sendable: a weak reference, which changes by itself only.

    private(set) weak var observer: (any NSKeyValueObserving)?
    let identity: ObjectIdentifier

    init(_ observer: any NSKeyValueObserving) {
        self.observer = observer
        identity = ObjectIdentifier(observer)
    }
}

/// What is observed: where to watch, and how to read the value.
struct ObservedPath {
    /// The key path as text; `nil` for a key path of Swift's that computes a value.
    let name: String?
    /// The keys to follow from the object: those of the name, or those that the computed value depends on.
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
