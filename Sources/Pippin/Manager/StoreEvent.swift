import StoreSession
import Synchronization

/// Something that a store has done, for a program that keeps logs, metrics or traces: a statement that has ended, a
/// wait for others, or a request of a sync over HTTP.
///
/// ```swift
/// StoreEvent.receive { event in
///     guard event.duration > .milliseconds(100) || event.error != nil else { return }
///     logger.warning("\(event.statement)", metadata: ["rows": "\(event.rows)", "error": "\(event.error ?? "none")"])
/// }
/// ```
public struct StoreEvent: Sendable {
    /// What has happened. Kinds may be added; a `switch` over them needs a default.
    public struct Kind: Hashable, Sendable {
        private let name: String

        /// A statement has ended.
        public static let statement = Kind(name: "statement")
        /// A reader has waited: for a state of the store that others held, of which a server's store has a limited
        /// number, or for a standby that has what it must see.
        public static let wait = Kind(name: "wait")
        /// A device has asked a server over HTTP, and has its answer, or none.
        public static let syncRequest = Kind(name: "syncRequest")
        /// A server has answered a device over HTTP. The time that it waited for news is in the duration.
        public static let syncAnswer = Kind(name: "syncAnswer")
    }

    /// What has happened.
    public let kind: Kind
    /// What a request of a sync has moved.
    public struct Transfer: Hashable, Sendable {
        /// The bytes of the bodies that were sent and received, as they travelled.
        public var bytesSent = 0, bytesReceived = 0
        /// How many of the pushed changes the server has not taken.
        public var refused = 0

        package init(bytesSent: Int, bytesReceived: Int, refused: Int) {
            (self.bytesSent, self.bytesReceived, self.refused) = (bytesSent, bytesReceived, refused)
        }
    }

    /// The statement, with a placeholder for each value: `?` in a file, `$1` in PostgreSQL; the name of a request
    /// (`hello`, `push`, `changes`, `rows` or `sums`); empty for a wait.
    public let statement: String
    /// How long it took. SQLite measures in milliseconds.
    public let duration: Duration
    /// How many rows the statement gave; in PostgreSQL also how many it changed. Of a request, how many changes or rows
    /// travelled.
    public let rows: Int
    /// What the database said if the statement failed, or why a request was not answered with 200; nil otherwise.
    public let error: String?
    /// What a request has moved; nil for other events.
    public private(set) var transfer: Transfer?

    /// Has a function told of each event of stores that are opened from now on, in files, in memory and in PostgreSQL,
    /// in the whole program. Without one, nothing is measured.
    ///
    /// Statements have no values of models. Questions about an SQLite file itself (`PRAGMA`) are left out.
    ///
    /// - Parameter receiver: is told, on the thread that works with the store, which waits for it: it must be quick,
    ///   and use no manager. It takes the place of the former one; `nil` for none.
    public static func receive(_ receiver: (@Sendable (StoreEvent) -> Void)?) {
        requests.withLock { $0 = receiver }
        guard let receiver else { return StoreMonitor.set(nil) }
        StoreMonitor.set { work in
            switch work {
            case .statement(let text, let duration, let rows, let error):
                receiver(
                    StoreEvent(kind: .statement, statement: text, duration: duration, rows: rows, error: error))
            case .wait(let duration):
                receiver(StoreEvent(kind: .wait, statement: "", duration: duration, rows: 0, error: nil))
            }
        }
    }

    // MARK: Requests of a sync

    private static let requests = Mutex<(@Sendable (StoreEvent) -> Void)?>(nil)

    /// Whether somebody is told.
    package static var isReceived: Bool { requests.withLock { $0 != nil } }

    /// Tells of a request.
    ///
    /// - Parameters:
    ///   - kind: whether it was asked or answered.
    ///   - name: its name.
    ///   - duration: how long it took.
    ///   - rows: how many changes or rows travelled.
    ///   - error: why it was not answered.
    ///   - transfer: what it has moved.
    package static func report(
        _ kind: Kind, _ name: String, _ duration: Duration, rows: Int, error: String?, _ transfer: Transfer
    ) {
        guard let receiver = requests.withLock({ $0 }) else { return }
        var event = StoreEvent(kind: kind, statement: name, duration: duration, rows: rows, error: error)
        event.transfer = transfer
        receiver(event)
    }
}
