import Dispatch
import Foundation
import PostgresConnection
import Synchronization

/// A connection that hears of all saves to a database: one for all stores of the process that are in it.
final class NewsChannel: SaveNews, @unchecked Sendable {
    // @unchecked Sendable: the lock guards listeners, source and own news; the connection and what it holds belong to the queue.

    /// What a listener is told: who has saved to its store, by the numbers of the server's processes; nil where it may have been anybody.
    typealias Listener = @Sendable (_ senders: Set<Int32>?) -> Void

    private let target: ConnectionTarget
    private let answerTimeout: Double?
    private let isPooled: Bool
    private let queue = DispatchQueue(label: "NewsChannel")
    private let lock = NSLock()
    private var listeners: [UUID: (schema: String, tell: Listener)] = [:]
    private var source: (any DispatchSourceRead)?
    private var timer: (any DispatchSourceTimer)?
    private var connection: PostgresConnection?
    /// What says that somebody listens, for each schema.
    private var presences: [String: Presence] = [:]
    /// The numbers under which the connection was the first one to listen, for each schema.
    private let identities = Mutex<[String: Int32]>([:])
    /// Who of this process has saved without the server's telling it, for each schema.
    private var ownNews: [String: Set<Int32>] = [:]
    /// When something was heard at last, in nanoseconds of the machine's clock.
    private var latest: UInt64 = 0

    /// How soon, and how seldom at last, saves that were under way are looked for, in milliseconds.
    private static let (shortest, longest) = (5, 500)
    /// For how long news is collected where it has come just before, in nanoseconds.
    private static let pause: UInt64 = 20_000_000
    /// How long to wait before a lost connection is made anew, in milliseconds.
    private static let delay = 1000
    /// How often a server that could be gone without a word is asked whether it is there, in seconds.
    private static let heartbeat = 5

    private struct WeakChannel { weak var channel: NewsChannel? }
    private static let channels = Mutex<[[String: String]: WeakChannel]>([:])

    /// The channel of a store's database.
    ///
    /// - Parameters:
    ///   - place: where the store is.
    ///   - isPooled: whether a pool may be between program and server.
    /// - Returns: the channel.
    static func shared(_ place: StorePlace, isPooled: Bool) -> NewsChannel {
        // Who comes in by another name, or another way, has a connection of their own.
        var key = (try? place.target.parsed()) ?? ["": place.target.description]
        key.merge(place.target.settings) { _, new in new }
        if isPooled { key["pooled"] = "" }
        return channels.withLock { channels in
            channels = channels.filter { $0.value.channel != nil }
            if let known = channels[key]?.channel { return known }
            let new = NewsChannel(place, isPooled)
            channels[key] = WeakChannel(channel: new)
            return new
        }
    }

    private init(_ place: StorePlace, _ isPooled: Bool) {
        (target, answerTimeout, self.isPooled) = (place.target, place.failover.answerTimeout, isPooled)
    }

    deinit {
        timer?.cancel()
        source?.cancel()
    }

    /// Has somebody told of what is saved, but for what is there to be read when this returns.
    ///
    /// - Returns: by what it is let go.
    func add(_ schema: String, _ tell: @escaping Listener) -> UUID {
        let name = UUID()
        lock.withLock { listeners[name] = (schema, tell) }
        queue.sync {
            guard let connection else { return connect() }
            do { try appear(schema, connection) } catch { reconnect() }
        }
        return name
    }

    func remove(_ name: UUID) {
        guard let schema = lock.withLock({ listeners.removeValue(forKey: name) })?.schema else { return }
        queue.async { [weak self] in
            guard let self, let connection, !listens(schema), var presence = presences.removeValue(forKey: schema)
            else { return }
            identities.withLock { $0[schema] = nil }
            do { try presence.end(connection) } catch { reconnect() }
        }
    }

    private func listens(_ schema: String) -> Bool {
        lock.withLock { listeners.values.contains { $0.schema == schema } }
    }

    /// The number under which this was the first one to listen to a store; nil where it was not.
    func identity(_ schema: String) -> Int32? { identities.withLock { $0[schema] } }

    /// Takes news of this process's own, which come without the server.
    ///
    /// - Parameters:
    ///   - schema: the store's.
    ///   - sender: the number of the server's process.
    func hear(_ schema: String, from sender: Int32) {
        let isFirst = lock.withLock {
            // Who saves listens, too, and knows.
            guard listeners.count > 1 else { return false }
            defer { ownNews[schema, default: []].insert(sender) }
            return ownNews.isEmpty
        }
        if isFirst { queue.async { [weak self] in self?.hearOwn() } }
    }

    private func hearOwn() {
        pause()
        let news = lock.withLock {
            defer { ownNews = [:] }
            return ownNews
        }
        latest = DispatchTime.now().uptimeNanoseconds
        for listener in lock.withLock({ Array(listeners.values) }) {
            if let senders = news[listener.schema] { listener.tell(senders) }
        }
    }

    // MARK: The connection

    private func connect() {
        guard let new = try? PostgresConnection(target),
            (try? new.execute("LISTEN \(quotedName(OpenDatabase.channel))")) != nil
        else { return reconnect() }
        do {
            for schema in Set(lock.withLock { listeners.values.map(\.schema) }) { try appear(schema, new) }
        } catch { return reconnect() }
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

    /// Says that somebody listens to a store, which the connection does already. Saves that are under way, and may tell nobody, are waited for.
    private func appear(_ schema: String, _ connection: PostgresConnection) throws {
        guard presences[schema] == nil else { return }
        let presence = try Presence(schema, connection, maybeAlone: !isPooled)
        presences[schema] = presence
        identities.withLock { $0[schema] = presence.identity }
        if presence.isBehind { catchUp(schema, connection, after: Self.shortest) }
    }

    /// Takes the end of such saves for a change.
    private func catchUp(_ schema: String, _ connection: PostgresConnection, after delay: Int) {
        let current = Unchecked(connection)
        queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
            // A connection made anew begins anew.
            guard let self, self.connection === current.connection, presences[schema] != nil else { return }
            do { try presences[schema]?.catchUp(current.connection) } catch { return reconnect() }
            if presences[schema]?.isBehind ?? false {
                catchUp(schema, current.connection, after: min(delay * 2, Self.longest))
            } else {
                for listener in lock.withLock({ Array(listeners.values) }) where listener.schema == schema {
                    listener.tell(nil)
                }
            }
            // What came along with the answer makes the socket ready no more.
            hear()
        }
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
        presences = [:]
        identities.withLock { $0 = [:] }
        queue.asyncAfter(deadline: .now() + .milliseconds(Self.delay)) { [weak self] in
            guard let self, connection == nil, lock.withLock({ !listeners.isEmpty }) else { return }
            connect()
            guard connection != nil else { return }
            for listener in lock.withLock({ Array(listeners.values) }) { listener.tell(nil) }
        }
    }

    private func hear() {
        guard let connection else { return }
        pause()
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

    /// Where news comes one after the other, those of some time are heard at once: the first one as soon as it comes.
    private func pause() {
        let since = DispatchTime.now().uptimeNanoseconds &- latest
        if since < Self.pause { usleep(UInt32((Self.pause - since) / 1000)) }
    }
}
