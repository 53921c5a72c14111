import Foundation
import PostgresConnection
import StoreEngine

/// Option (number of seconds): how long a store in PostgreSQL looks for a server that takes writes after it has lost
/// its server. By default 30 if several hosts are named, and 5 for a single one.
public let NSPostgreSQLFailoverTimeoutOption = "NSPostgreSQLFailoverTimeoutOption"
/// Option (number of seconds): after how long without an answer a server is asked whether it is still there. By default
/// 5 if several hosts are named; never for a single one.
public let NSPostgreSQLAnswerTimeoutOption = "NSPostgreSQLAnswerTimeoutOption"

/// Option (Boolean): pinned query generations, and Pippin's `read` blocks, read from standbys if the connection string
/// names several hosts; everything else reads from the server that takes writes.
public let NSPostgreSQLStandbyReadsOption = "NSPostgreSQLStandbyReadsOption"
/// Option (number of seconds): how long a reading waits for a standby to have what the program itself has written,
/// before it goes to the server that takes writes; 0.5 if not given.
public let NSPostgreSQLStandbyWaitOption = "NSPostgreSQLStandbyWaitOption"

/// Option (number of seconds): how long a statement may take before the server ends it; without limit if not given. Not
/// available with ``NSPostgreSQLPooledOption``.
public let NSPostgreSQLStatementTimeoutOption = "NSPostgreSQLStatementTimeoutOption"

/// How a lost or slow server is handled.
package struct FailoverSettings: Sendable, Equatable {
    /// How long another server is looked for.
    package var deadline: Duration
    /// After how long without an answer the server is asked whether it is there; `nil` for never.
    package var answerTimeout: Double?
    /// How long a statement may take, in milliseconds; `nil` for no limit.
    package var statementTimeout: Int?
    /// Whether generations are read from standbys.
    package var readsStandbys: Bool
    /// How long a reading waits for a standby to have what it must see.
    package var standbyPatience: Duration
    /// Whether opening a store waits for a server, too.
    package var waitsWhenOpening: Bool

    package init(_ options: [AnyHashable: Any]?, hosts: Int) {
        func seconds(_ key: String) -> Double? {
            let number = (options?[key] as? NSNumber)?.doubleValue
            return number.map { max(0, min($0, 1_000_000)) }
        }
        deadline = .milliseconds(Int((seconds(NSPostgreSQLFailoverTimeoutOption) ?? (hosts > 1 ? 30 : 5)) * 1000))
        answerTimeout = seconds(NSPostgreSQLAnswerTimeoutOption) ?? (hosts > 1 ? 5 : nil)
        if answerTimeout == 0 { answerTimeout = nil }
        statementTimeout = seconds(NSPostgreSQLStatementTimeoutOption).flatMap { $0 > 0 ? max(1, Int($0 * 1000)) : nil }
        waitsWhenOpening = hosts > 1
        readsStandbys = hosts > 1 && StoreSettings.flag(options, NSPostgreSQLStandbyReadsOption)
        standbyPatience = .milliseconds(Int((seconds(NSPostgreSQLStandbyWaitOption) ?? 0.5) * 1000))
    }

    /// Adds the settings that find the server that takes writes to a target of several hosts.
    static func completed(_ target: ConnectionTarget, isReadOnly: Bool) -> ConnectionTarget {
        guard target.hostCount > 1 else { return target }
        var target = target
        // The string's own settings take precedence.
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
