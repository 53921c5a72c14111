import Foundation
import StoreReading

/// Where output and errors go: what a terminal gets, and a file or a pipe does not.
package struct Terminal {
    /// Whether the output may be coloured.
    package var hasColours = false
    /// Whether what takes long says so on the standard error output.
    package var showsProgress = false

    /// Neither colours nor progress.
    package static let none = Terminal()

    package init() {}

    /// - Parameter environment: the process's.
    package init(environment: [String: String]) {
        let isPlain = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        hasColours = isatty(STDOUT_FILENO) == 1 && !isPlain
        showsProgress = isatty(STDERR_FILENO) == 1 && environment["TERM"] != "dumb"
    }

    package func bold(_ text: String) -> String { hasColours ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    package func quiet(_ text: String) -> String { hasColours ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
    package func bad(_ text: String) -> String { hasColours ? "\u{1B}[31m\(text)\u{1B}[0m" : text }
    package func good(_ text: String) -> String { hasColours ? "\u{1B}[32m\(text)\u{1B}[0m" : text }
}
