import Dispatch
import Foundation
import StoreEngine
import Synchronization

/// Tells when others have changed a store.
final class NewsListener: Sendable {
    let channel: NewsChannel
    private let name: UUID
    private let state: State

    /// When to ask again while somebody else asks the engine, in milliseconds.
    private static let busyDelay = 20

    private final class State: Sendable {
        let isCancelled = Atomic<Bool>(false)
        /// Who has saved, while nobody could be asked whether that matters; nil where nobody has.
        let waiting = Mutex<Set<Int32>?>(nil)
    }

    /// - Parameters:
    ///   - place: where the store is.
    ///   - isPooled: whether a pool may be between program and server.
    ///   - ownProcess: the number of the server's process that the store itself saves by.
    ///   - asking: runs a closure while nobody else asks the engine; nil where somebody does.
    ///   - heard: is called when others have saved.
    init(
        _ place: StorePlace, isPooled: Bool, ownProcess: @escaping @Sendable () -> Int32?,
        asking: @escaping @Sendable (() -> Bool) -> Bool?, heard: @escaping @Sendable () -> Void
    ) {
        let state = State()
        self.state = state
        channel = NewsChannel.shared(place, isPooled: isPooled)
        let queue = DispatchQueue(label: "NewsListener")
        @Sendable func ask() {
            guard !state.isCancelled.load(ordering: .relaxed), let senders = state.waiting.withLock({ $0 }) else {
                return
            }
            guard let isOthers = asking({ senders.contains { $0 != ownProcess() } }) else {
                return queue.asyncAfter(deadline: .now() + .milliseconds(Self.busyDelay)) { ask() }
            }
            state.waiting.withLock { $0 = nil }
            if isOthers { heard() }
        }
        name = channel.add(place.schema) { senders in
            queue.async {
                guard let senders else {
                    if !state.isCancelled.load(ordering: .relaxed) { heard() }
                    return
                }
                let isFirst = state.waiting.withLock { waiting in
                    defer { waiting = (waiting ?? []).union(senders) }
                    return waiting == nil
                }
                // Who waits to ask, asks for all.
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
