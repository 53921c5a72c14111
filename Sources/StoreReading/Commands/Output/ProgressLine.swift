import Foundation

/// A line on a terminal that shows progress, and is updated at most ten times a second.
package final class ProgressLine {
    private let terminal: Terminal
    private let errors: (String) -> Void
    private var last = 0.0
    private var isShown = false

    package init(_ terminal: Terminal, _ errors: @escaping (String) -> Void) {
        self.terminal = terminal
        self.errors = errors
    }

    /// Whether the line is shown. If it is not, nobody needs to count only for its sake.
    package var isSeen: Bool { terminal.showsProgress }

    /// Says how far something is.
    ///
    /// - Parameters:
    ///   - text: what is being done.
    ///   - fraction: how much of it is done, where that is known: drawn as a bar.
    package func say(_ text: @autoclosure () -> String, _ fraction: @autoclosure () -> Double? = nil) {
        guard terminal.showsProgress else { return }
        let now = ProcessInfo.processInfo.systemUptime
        guard now - last > 0.1 else { return }
        last = now
        isShown = true
        errors("\r\u{1B}[K" + (fraction().map { Self.bar($0) + " " } ?? "") + text())
    }

    /// `[#######·············]  35 %`. Pure.
    package static func bar(_ fraction: Double) -> String {
        let part = min(max(0, fraction.isNaN ? 0 : fraction), 1)
        let (width, percent) = (20, Int(part * 100))
        let full = Int(part * Double(width))
        let number = String(repeating: " ", count: 3 - String(percent).count) + String(percent)
        return "[" + String(repeating: "#", count: full) + String(repeating: "·", count: width - full) + "] \(number) %"
    }

    /// Takes the line away.
    package func end() {
        if isShown { errors("\r\u{1B}[K") }
        isShown = false
    }
}

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
