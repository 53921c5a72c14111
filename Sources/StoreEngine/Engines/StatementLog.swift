import Foundation

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

    /// Writes a statement, with the seconds that it took if they are known.
    package static func write(_ sql: String, seconds: Double? = nil) {
        guard !sql.hasPrefix("PRAGMA ") else { return }
        // Nobody reads an output that cannot be written.
        try? FileHandle.standardError.write(contentsOf: Data(text(sql, seconds: seconds).utf8))
    }

    /// The lines for a statement.
    package static func text(_ sql: String, seconds: Double?) -> String {
        let time = seconds.map { "CoreData: annotation: sql execution time: \(String(format: "%.4f", $0))s\n" }
        return "CoreData: sql: \(sql)\n\(time ?? "")"
    }
}
