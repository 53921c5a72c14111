import Dispatch
import Foundation
import PostgresConnection
import StoreEngine
import Synchronization

extension OpenDatabase {
    /// The channel on which programs tell each other that they have saved. What they tell is the schema.
    static let channel = "pippin"

    /// Tells others that the store changes, once the transaction is committed.
    var notification: PostgresConnection.Request {
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        return .init("SELECT pg_notify('\(Self.channel)', $1)", parameters)
    }
}

/// Tells when others have changed a store.
final class NewsListener: Sendable {
    private let channel: NewsChannel
    private let name: UUID
    private let isCancelled: CancellationMark

    /// When to ask again while somebody else asks the engine, in milliseconds.
    private static let busyDelay = 20

    private final class CancellationMark: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    /// - Parameters:
    ///   - place: where the store is.
    ///   - ownProcess: the number of the server's process that the store itself saves by.
    ///   - asking: runs a closure while nobody else asks the engine; nil where somebody does.
    ///   - heard: is called when others have saved.
    init(
        _ place: StorePlace, ownProcess: @escaping @Sendable () -> Int32?,
        asking: @escaping @Sendable (() -> Bool) -> Bool?, heard: @escaping @Sendable () -> Void
    ) {
        let mark = CancellationMark()
        isCancelled = mark
        channel = NewsChannel.shared(place)
        let queue = DispatchQueue(label: "NewsListener")
        @Sendable func tell(_ senders: Set<Int32>) {
            guard !mark.isSet.load(ordering: .relaxed) else { return }
            let isOthers = asking { senders.contains { $0 != ownProcess() } }
            guard let isOthers else {
                return queue.asyncAfter(deadline: .now() + .milliseconds(Self.busyDelay)) { tell(senders) }
            }
            if isOthers { heard() }
        }
        name = channel.add(place.schema) { senders in
            queue.async {
                if let senders { return tell(senders) }
                if !mark.isSet.load(ordering: .relaxed) { heard() }
            }
        }
    }

    func cancel() {
        isCancelled.isSet.store(true, ordering: .relaxed)
        channel.remove(name)
    }

    deinit { cancel() }
}
