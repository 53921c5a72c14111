import Dispatch
import Foundation
import PostgresConnection
import Synchronization

/// A connection that hears of all saves to a database: one for all stores of the process that are in it.
final class NewsChannel: @unchecked Sendable {
    // @unchecked Sendable: the lock guards listeners and source; the connection belongs to the queue.

    /// What a listener is told: who has saved to its store, by the numbers of the server's processes; nil where it may have been anybody.
    typealias Listener = @Sendable (_ senders: Set<Int32>?) -> Void

    private let target: ConnectionTarget
    private let answerTimeout: Double?
    private let queue = DispatchQueue(label: "NewsChannel")
    private let lock = NSLock()
    private var listeners: [UUID: (schema: String, tell: Listener)] = [:]
    private var source: (any DispatchSourceRead)?
    private var timer: (any DispatchSourceTimer)?
    private var connection: PostgresConnection?
    /// When something was heard at last, in nanoseconds of the machine's clock.
    private var latest: UInt64 = 0

    /// For how long news is collected where it has come just before, in nanoseconds.
    private static let pause: UInt64 = 20_000_000
    /// How long to wait before a lost connection is made anew, in milliseconds.
    private static let delay = 1000
    /// How often a server that could be gone without a word is asked whether it is there, in seconds.
    private static let heartbeat = 5

    private struct WeakChannel { weak var channel: NewsChannel? }
    private static let channels = Mutex<[[String: String]: WeakChannel]>([:])

    /// The channel of a store's database.
    static func shared(_ place: StorePlace) -> NewsChannel {
        // Who comes in by another name, or another way, has a connection of their own.
        var key = (try? place.target.parsed()) ?? ["": place.target.description]
        key.merge(place.target.settings) { _, new in new }
        return channels.withLock { channels in
            channels = channels.filter { $0.value.channel != nil }
            if let known = channels[key]?.channel { return known }
            let new = NewsChannel(place)
            channels[key] = WeakChannel(channel: new)
            return new
        }
    }

    private init(_ place: StorePlace) { (target, answerTimeout) = (place.target, place.failover.answerTimeout) }

    deinit {
        timer?.cancel()
        source?.cancel()
    }

    /// Has somebody told of what is saved after this.
    ///
    /// - Returns: by what it is let go.
    func add(_ schema: String, _ tell: @escaping Listener) -> UUID {
        let name = UUID()
        lock.withLock { listeners[name] = (schema, tell) }
        queue.sync { if connection == nil { connect() } }
        return name
    }

    func remove(_ name: UUID) { lock.withLock { _ = listeners.removeValue(forKey: name) } }

    // MARK: The connection

    private func connect() {
        guard let new = try? PostgresConnection(target),
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
        if let answerTimeout { beat(new, answerTimeout) }
    }

    private struct Unchecked: @unchecked Sendable {
        // @unchecked Sendable: it is only kept.
        let connection: PostgresConnection
        init(_ connection: PostgresConnection) { self.connection = connection }
    }

    /// Asks from time to time whether the server is still there, and takes writes.
    private func beat(_ connection: PostgresConnection, _ answerTimeout: Double) {
        connection.watchAnswers(seconds: answerTimeout)
        let new = DispatchSource.makeTimerSource(queue: queue)
        new.schedule(deadline: .now() + .seconds(Self.heartbeat), repeating: .seconds(Self.heartbeat))
        new.setEventHandler { [weak self] in
            guard let self, let connection = self.connection else { return }
            guard let result = try? connection.queryOnce("SELECT pg_is_in_recovery()"), result.integer(0, 0) == 0 else {
                return reconnect()
            }
            // What came along with the answer makes the socket ready no more.
            hear()
        }
        timer = new
        new.resume()
    }

    /// What was told while nobody listened is lost, so that a change is assumed.
    private func reconnect() {
        lock.withLock {
            source?.cancel()
            source = nil
        }
        timer?.cancel()
        timer = nil
        connection = nil
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.delay)) { [weak self] in
            guard let self, connection == nil, lock.withLock({ !listeners.isEmpty }) else { return }
            connect()
            guard connection != nil else { return }
            for listener in lock.withLock({ Array(listeners.values) }) { listener.tell(nil) }
        }
    }

    private func hear() {
        guard let connection else { return }
        // Where news comes one after the other, those of some time are heard at once: the first one as soon as it comes.
        let since = DispatchTime.now().uptimeNanoseconds &- latest
        if since < Self.pause { usleep(UInt32((Self.pause - since) / 1000)) }
        var news: [PostgresNotification] = []
        // A server that ends a connection says so first. Where its words and the end arrive together, nobody calls again for the end.
        repeat {
            guard let heard = try? connection.notifications() else { return reconnect() }
            news += heard
        } while connection.hasInput
        guard !news.isEmpty else { return }
        latest = DispatchTime.now().uptimeNanoseconds
        for listener in lock.withLock({ Array(listeners.values) }) {
            let senders = Set(news.filter { $0.payload == listener.schema }.map(\.processID))
            if !senders.isEmpty { listener.tell(senders) }
        }
    }
}
