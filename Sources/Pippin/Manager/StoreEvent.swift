import StoreSession

/// Something that a store has done, for a program that keeps logs, metrics or traces: a statement that has ended, or a
/// wait for others.
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
    }

    /// What has happened.
    public let kind: Kind
    /// The statement, with a placeholder for each value: `?` in a file, `$1` in PostgreSQL; empty for a wait.
    public let statement: String
    /// How long it took. SQLite measures in milliseconds.
    public let duration: Duration
    /// How many rows the statement gave; in PostgreSQL also how many it changed.
    public let rows: Int
    /// What the database said if the statement failed; nil if it did not.
    public let error: String?

    /// Has a function told of each event of stores that are opened from now on, in files, in memory and in PostgreSQL,
    /// in the whole program. Without one, nothing is measured.
    ///
    /// Statements have no values of models. Questions about an SQLite file itself (`PRAGMA`) are left out.
    ///
    /// - Parameter receiver: is told, on the thread that works with the store, which waits for it: it must be quick,
    ///   and use no manager. It takes the place of the former one; `nil` for none.
    public static func receive(_ receiver: (@Sendable (StoreEvent) -> Void)?) {
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
}
