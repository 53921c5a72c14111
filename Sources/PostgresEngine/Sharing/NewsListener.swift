import CoreDataModel
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

/// Tells when others have changed a store, by a connection of its own that hears of all saves.
final class NewsListener: @unchecked Sendable {
    // @unchecked Sendable: the lock guards what changes; the connection belongs to the queue.
    private weak var engine: PostgresEngine?
    private let place: StorePlace
    /// When to ask again while somebody else asks the engine, in milliseconds.
    private static let busyDelay = 20
    private let asking: @Sendable (() -> Bool) -> Bool?
    private let heard: @Sendable () -> Void
    private let queue = DispatchQueue(label: "NewsListener")
    private let lock = NSLock()
    private var source: (any DispatchSourceRead)?
    private let isCancelled = Atomic<Bool>(false)
    private var connection: PostgresConnection?

    /// How long to wait before a lost connection is made anew, in milliseconds.
    private static let delay = 1000

    init(
        _ engine: PostgresEngine, _ place: StorePlace, asking: @escaping @Sendable (() -> Bool) -> Bool?,
        heard: @escaping @Sendable () -> Void
    ) {
        (self.engine, self.place, self.asking, self.heard) = (engine, place, asking, heard)
        // What is saved after this is heard of.
        queue.sync { connect() }
    }

    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
        lock.withLock {
            source?.cancel()
            source = nil
        }
    }

    private func connect() {
        guard !isCancelled.load(ordering: .relaxed) else { return }
        guard let new = try? PostgresConnection(place.target),
            (try? new.execute("LISTEN \(quotedName(OpenDatabase.channel))")) != nil
        else { return reconnect() }
        connection = new
        let reading = DispatchSource.makeReadSource(fileDescriptor: new.socket, queue: queue)
        reading.setEventHandler { [weak self] in self?.hear() }
        // The socket must stay open until nobody listens to it.
        let last = Unchecked(new)
        reading.setCancelHandler { withExtendedLifetime(last) {} }
        lock.withLock { source = reading }
        reading.resume()
    }

    private struct Unchecked: @unchecked Sendable {
        // @unchecked Sendable: it is only kept.
        let connection: PostgresConnection
        init(_ connection: PostgresConnection) { self.connection = connection }
    }

    /// What was told while nobody listened is lost, so that a change is assumed.
    private func reconnect() {
        lock.withLock {
            source?.cancel()
            source = nil
        }
        connection = nil
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.delay)) { [weak self] in
            guard let self else { return }
            connect()
            if connection != nil { heard() }
        }
    }

    private func hear() {
        guard let connection, let news = try? connection.notifications() else { return reconnect() }
        let senders = Set(news.filter { $0.payload == place.schema }.map(\.processID))
        if !senders.isEmpty { tell(senders) }
    }

    /// Tells of what others sent, once nobody else asks the engine.
    private func tell(_ senders: Set<Int32>) {
        guard let engine else { return }
        let isOthers = asking { senders.contains { $0 != engine.opened?.connection.processID } }
        guard let isOthers else {
            return queue.asyncAfter(deadline: .now() + .milliseconds(Self.busyDelay)) { [weak self] in
                self?.tell(senders)
            }
        }
        if isOthers { heard() }
    }
}
