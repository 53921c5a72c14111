import Dispatch
import Foundation
import StoreEngine
import Synchronization

/// Reports when others have changed a store.
final class NotificationListener: Sendable {
    let channel: NotificationChannel
    private let name: UUID
    private let state: State

    /// When to try again while another thread uses the engine, in milliseconds.
    private static let busyDelay = 20

    private final class State: Sendable {
        let isCancelled = Atomic<Bool>(false)
        /// The senders for which it could not be asked yet whether they matter; nil for none.
        let waiting = Mutex<Set<Int32>?>(nil)
    }

    /// - Parameters:
    ///   - place: the location of the store.
    ///   - isPooled: whether there may be a pooler between program and server.
    ///   - ownProcess: the number of the server's process through which the store itself saves.
    ///   - whileIdle: runs a closure unless another thread uses the engine; nil if one does.
    ///   - handler: is called when others have saved.
    init(
        _ place: StorePlace, isPooled: Bool, ownProcess: @escaping @Sendable () -> Int32?,
        whileIdle: @escaping @Sendable (() -> Bool) -> Bool?, handler: @escaping @Sendable () -> Void
    ) {
        let state = State()
        self.state = state
        channel = NotificationChannel.shared(place, isPooled: isPooled)
        let queue = DispatchQueue(label: "NotificationListener")
        @Sendable func ask() {
            guard !state.isCancelled.load(ordering: .relaxed), let senders = state.waiting.withLock({ $0 }) else {
                return
            }
            guard let isOthers = whileIdle({ senders.contains { $0 != ownProcess() } }) else {
                return queue.asyncAfter(deadline: .now() + .milliseconds(Self.busyDelay)) { ask() }
            }
            state.waiting.withLock { $0 = nil }
            if isOthers { handler() }
        }
        name = channel.add(place.schema) { senders in
            queue.async {
                guard let senders else {
                    if !state.isCancelled.load(ordering: .relaxed) { handler() }
                    return
                }
                let isFirst = state.waiting.withLock { waiting in
                    defer { waiting = (waiting ?? []).union(senders) }
                    return waiting == nil
                }
                // The first one that waits asks for all.
                if isFirst { ask() }
            }
        }
    }

    func cancel() {
        state.isCancelled.store(true, ordering: .relaxed)
        channel.remove(name)
    }

    deinit { cancel() }
}
