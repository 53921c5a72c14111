import Dispatch
import Foundation
import PostgresConnection
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

/// A connection that receives the notifications of all saves to a database, shared by all stores of the process in it.
final class NotificationChannel: SaveNotificationChannel, @unchecked Sendable {
    // @unchecked Sendable: the lock guards listeners, source and own saves; the connection and what it holds belong to
    // the queue.

    /// Receives the senders that have saved to its store, as numbers of the server's processes; nil if they are
    /// unknown.
    typealias Listener = @Sendable (_ senders: Set<Int32>?) -> Void

    private let target: ConnectionTarget
    private let answerTimeout: Double?
    private let isPooled: Bool
    private let queue = DispatchQueue(label: "NotificationChannel")
    private let lock = NSLock()
    private var listeners: [UUID: (schema: String, notify: Listener)] = [:]
    private var source: (any DispatchSourceRead)?
    private var timer: (any DispatchSourceTimer)?
    private var connection: PostgresConnection?
    /// The locks that announce this listener, by schema.
    private var presences: [String: Presence] = [:]
    /// The numbers under which the connection was the first to listen, by schema.
    private let identities = Mutex<[String: Int32]>([:])
    /// The senders of this process that have saved without a notification from the server, by schema.
    private var ownSaves: [String: Set<Int32>] = [:]
    /// The time of the latest notification, in nanoseconds of the machine's clock.
    private var latest: UInt64 = 0

    /// The shortest and the longest delay between checks for saves that were under way, in milliseconds.
    private static let (shortest, longest) = (5, 500)
    /// How long notifications are collected if another one has come just before, in nanoseconds.
    private static let pause: UInt64 = 20_000_000
    /// How long to wait before a lost connection is made anew, in milliseconds.
    private static let delay = 1000
    /// How often a server that could vanish without a word is asked whether it is there, in seconds.
    private static let heartbeat = 5

    private struct WeakChannel { weak var channel: NotificationChannel? }
    private static let channels = Mutex<[[String: String]: WeakChannel]>([:])

    /// The channel of a store's database.
    ///
    /// - Parameters:
    ///   - place: where the store is.
    ///   - isPooled: whether a pool may be between program and server.
    /// - Returns: the channel.
    static func shared(_ place: StorePlace, isPooled: Bool) -> NotificationChannel {
        // Another user or other connection settings need a connection of their own.
        var key = (try? place.target.parsed()) ?? ["": place.target.description]
        key.merge(place.target.settings) { _, new in new }
        if isPooled { key["pooled"] = "" }
        return channels.withLock { channels in
            channels = channels.filter { $0.value.channel != nil }
            if let known = channels[key]?.channel { return known }
            let new = NotificationChannel(place, isPooled)
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

    /// Adds a listener to saves. It is not notified of saves that can be read when this returns.
    ///
    /// - Returns: the name by which the listener is removed.
    func add(_ schema: String, _ notify: @escaping Listener) -> UUID {
        let name = UUID()
        lock.withLock { listeners[name] = (schema, notify) }
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

    /// The number under which this was the first to listen to a store; nil if it was not the first.
    func identity(_ schema: String) -> Int32? { identities.withLock { $0[schema] } }

    /// Notes a save of this process, of which the server sends no notification.
    ///
    /// - Parameters:
    ///   - schema: the store's.
    ///   - sender: the number of the server's process.
    func noteOwnSave(_ schema: String, from sender: Int32) {
        let isFirst = lock.withLock {
            // A single listener is the one that saves, and knows of it.
            guard listeners.count > 1 else { return false }
            defer { ownSaves[schema, default: []].insert(sender) }
            return ownSaves.isEmpty
        }
        if isFirst { queue.async { [weak self] in self?.reportOwnSaves() } }
    }

    private func reportOwnSaves() {
        pause()
        let saves = lock.withLock {
            defer { ownSaves = [:] }
            return ownSaves
        }
        latest = DispatchTime.now().uptimeNanoseconds
        for listener in lock.withLock({ Array(listeners.values) }) {
            if let senders = saves[listener.schema] { listener.notify(senders) }
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
        reading.setEventHandler { [weak self] in self?.receive() }
        // The socket must stay open until the source has been cancelled.
        let last = Unchecked(new)
        reading.setCancelHandler { withExtendedLifetime(last) {} }
        lock.withLock { source = reading }
        reading.resume()
        if let answerTimeout { beat(new, answerTimeout) }
    }

    /// Takes the locks that announce a listener of a store, to which the connection listens already. Waits for saves
    /// under way that may not notify.
    private func appear(_ schema: String, _ connection: PostgresConnection) throws {
        guard presences[schema] == nil else { return }
        let presence = try Presence(schema, connection, maybeAlone: !isPooled)
        presences[schema] = presence
        identities.withLock { $0[schema] = presence.identity }
        if presence.isBehind { catchUp(schema, connection, after: Self.shortest) }
    }

    /// Reports a change once such saves have ended.
    private func catchUp(_ schema: String, _ connection: PostgresConnection, after delay: Int) {
        let current = Unchecked(connection)
        queue.asyncAfter(deadline: .now() + .milliseconds(delay)) { [weak self] in
            // A connection that was made anew starts over.
            guard let self, self.connection === current.connection, presences[schema] != nil else { return }
            do { try presences[schema]?.catchUp(current.connection) } catch { return reconnect() }
            if presences[schema]?.isBehind ?? false {
                catchUp(schema, current.connection, after: min(delay * 2, Self.longest))
            } else {
                for listener in lock.withLock({ Array(listeners.values) }) where listener.schema == schema {
                    listener.notify(nil)
                }
            }
            // Notifications that came along with the answer no longer make the socket readable.
            receive()
        }
    }

    private struct Unchecked: @unchecked Sendable {
        // @unchecked Sendable: it is only kept.
        let connection: PostgresConnection
        init(_ connection: PostgresConnection) { self.connection = connection }
    }

    /// Checks regularly whether the server is still there, and takes writes.
    private func beat(_ connection: PostgresConnection, _ answerTimeout: Double) {
        connection.watchAnswers(seconds: answerTimeout)
        let new = DispatchSource.makeTimerSource(queue: queue)
        new.schedule(deadline: .now() + .seconds(Self.heartbeat), repeating: .seconds(Self.heartbeat))
        new.setEventHandler { [weak self] in
            guard let self, let connection = self.connection else { return }
            guard let result = try? connection.queryOnce("SELECT pg_is_in_recovery()"), result.integer(0, 0) == 0 else {
                return reconnect()
            }
            // Notifications that came along with the answer no longer make the socket readable.
            receive()
        }
        timer = new
        new.resume()
    }

    /// Reconnects, and reports a change, since notifications may have been missed meanwhile.
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
            for listener in lock.withLock({ Array(listeners.values) }) { listener.notify(nil) }
        }
    }

    private func receive() {
        guard let connection else { return }
        pause()
        var received: [PostgresNotification] = []
        // A server that ends a connection says so first. If its message and the end arrive together, no further event
        // comes for the end.
        repeat {
            guard let new = try? connection.notifications() else { return reconnect() }
            received += new
        } while connection.hasInput
        guard !received.isEmpty else { return }
        latest = DispatchTime.now().uptimeNanoseconds
        for listener in lock.withLock({ Array(listeners.values) }) {
            let senders = Set(received.filter { $0.payload == listener.schema }.map(\.processID))
            if !senders.isEmpty { listener.notify(senders) }
        }
    }

    /// Collects frequent notifications for a short time, to report them at once; the first one is reported immediately.
    private func pause() {
        let since = DispatchTime.now().uptimeNanoseconds &- latest
        if since < Self.pause { usleep(UInt32((Self.pause - since) / 1000)) }
    }
}
