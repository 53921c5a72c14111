import Foundation
import PostgresConnection

/// Option (number of seconds): how long a store in PostgreSQL looks for a server that takes writes, after it has lost the one that it had. 30
/// where several hosts are named, and 5 for a single one.
public let NSPostgreSQLFailoverTimeoutOption = "NSPostgreSQLFailoverTimeoutOption"
/// Option (number of seconds): after how long without an answer a server is asked whether it is still there. 5 where several hosts are named; never
/// for a single one, unless this is given.
public let NSPostgreSQLAnswerTimeoutOption = "NSPostgreSQLAnswerTimeoutOption"

/// What is done when a server is gone.
package struct FailoverSettings: Sendable, Equatable {
    /// How long another one is looked for.
    package var deadline: Duration
    /// After how long without an answer the server is asked whether it is there; `nil` for never.
    package var answerTimeout: Double?
    /// Whether a store that is opened waits for a server, too.
    package var waitsWhenOpening: Bool

    package init(_ options: [AnyHashable: Any]?, hosts: Int) {
        func seconds(_ key: String) -> Double? {
            let number = (options?[key] as? NSNumber)?.doubleValue ?? options?[key] as? Double
            return number.map { max(0, min($0, 1_000_000)) }
        }
        deadline = .milliseconds(Int((seconds(NSPostgreSQLFailoverTimeoutOption) ?? (hosts > 1 ? 30 : 5)) * 1000))
        answerTimeout = seconds(NSPostgreSQLAnswerTimeoutOption) ?? (hosts > 1 ? 5 : nil)
        if answerTimeout == 0 { answerTimeout = nil }
        waitsWhenOpening = hosts > 1
    }

    /// Adds to a target of several hosts what finds the one that takes writes.
    static func completed(_ target: ConnectionTarget, isReadOnly: Bool) -> ConnectionTarget {
        guard target.hostCount > 1 else { return target }
        var target = target
        // What the string says itself holds.
        func complete(_ keyword: String, _ value: String) {
            if !target.names(keyword) { target.settings[keyword] = value }
        }
        if !isReadOnly { complete("target_session_attrs", "read-write") }
        complete("connect_timeout", "2")
        complete("keepalives_idle", "5")
        complete("keepalives_interval", "2")
        complete("keepalives_count", "3")
        complete("tcp_user_timeout", "10000")
        return target
    }
}
