import Foundation
import Synchronization

/// Writes the statements that stores run to the standard error output, like Core Data's SQL debugging.
///
/// The launch argument `-com.apple.CoreData.SQLDebug 1` turns it on, and so does an environment variable named
/// `com.apple.CoreData.SQLDebug` or `COREDATA_SQL_DEBUG` with the value 1. With 3, a database that knows the values of
/// the statements shows these, too. Questions about the database itself, which SQLite answers to pragmas, are left out:
/// there is one with each read.
package enum StatementLog {
    package static let setting = DebugSetting(name: "com.apple.CoreData.SQLDebug", variable: "COREDATA_SQL_DEBUG")

    private static let level = setting.level(
        arguments: CommandLine.arguments, environment: ProcessInfo.processInfo.environment)

    package static var isOn: Bool { level > 0 }

    package static var showsValues: Bool { level >= 3 }

    /// Whether a statement asks about the database itself.
    package static func isLeftOut(_ sql: String) -> Bool { sql.hasPrefix("PRAGMA ") }

    /// Writes a statement, with the seconds that it took if they are known.
    package static func write(_ sql: String, seconds: Double? = nil) {
        guard !isLeftOut(sql) else { return }
        // Nobody reads an output that cannot be written.
        try? FileHandle.standardError.write(contentsOf: Data(text(sql, seconds: seconds).utf8))
    }

    /// The lines for a statement.
    package static func text(_ sql: String, seconds: Double?) -> String {
        let time = seconds.map { "CoreData: annotation: sql execution time: \(String(format: "%.4f", $0))s\n" }
        return "CoreData: sql: \(sql)\n\(time ?? "")"
    }
}

/// What a store has done, for programs that keep logs, metrics or traces.
package enum StoreActivity: Sendable {
    /// A statement has ended: its text, how long it took, how many rows it gave, and the error if it failed.
    case statement(String, Duration, rows: Int, error: String?)
    /// A reader has waited for others: for a pinned state of the store, or for a standby.
    case wait(Duration)
}

/// Who is told what stores do.
package enum StoreMonitor {
    package typealias Receiver = @Sendable (StoreActivity) -> Void

    private static let receiver = Mutex<Receiver?>(nil)
    private static let isSet = Atomic<Bool>(false)

    /// Sets the receiver. Connections that are opened from now on report to it.
    package static func set(_ receiver: Receiver?) {
        self.receiver.withLock { $0 = receiver }
        isSet.store(receiver != nil, ordering: .relaxed)
    }

    /// Whether there is a receiver.
    package static var isOn: Bool { isSet.load(ordering: .relaxed) }

    /// Reports work, which is not even described without a receiver.
    @inline(__always)
    package static func report(_ work: @autoclosure () -> StoreActivity) {
        guard isOn else { return }
        receiver.withLock { $0 }?(work())
    }
}

/// A setting for whoever starts a program: a launch argument of Core Data's, or an environment variable.
package struct DebugSetting: Sendable {
    /// The name of the argument, without the hyphen, and of an environment variable.
    let name: String
    /// Another environment variable: shells cannot set names with dots.
    let variable: String

    /// - Parameters:
    ///   - name: the name of the argument, without the hyphen: `com.apple.CoreData.SQLDebug`.
    ///   - variable: the name of an environment variable that a shell can set.
    package init(name: String, variable: String) { (self.name, self.variable) = (name, variable) }

    /// How much is asked for: 0 for nothing, 1 for `YES`.
    package func level(arguments: [String], environment: [String: String]) -> Int {
        if let position = arguments.firstIndex(of: "-" + name), position + 1 < arguments.count {
            return Self.level(arguments[position + 1])
        }
        return [name, variable].lazy.compactMap { environment[$0].map(Self.level) }.max() ?? 0
    }

    private static func level(_ value: String) -> Int { max(Int(value) ?? (value.uppercased() == "YES" ? 1 : 0), 0) }
}
