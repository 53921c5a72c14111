import Foundation
import StoreReading

/// Where output and errors go: what a terminal gets, and a file or a pipe does not.
struct Terminal {
    /// Whether the output may be coloured.
    var hasColours = false
    /// Whether what takes long says so on the standard error output.
    var showsProgress = false

    /// Neither colours nor progress.
    static let none = Terminal()

    init() {}

    /// - Parameter environment: the process's.
    init(environment: [String: String]) {
        let isPlain = !(environment["NO_COLOR"] ?? "").isEmpty || environment["TERM"] == "dumb"
        hasColours = isatty(STDOUT_FILENO) == 1 && !isPlain
        showsProgress = isatty(STDERR_FILENO) == 1 && environment["TERM"] != "dumb"
    }

    func bold(_ text: String) -> String { hasColours ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
    func quiet(_ text: String) -> String { hasColours ? "\u{1B}[2m\(text)\u{1B}[0m" : text }
    func bad(_ text: String) -> String { hasColours ? "\u{1B}[31m\(text)\u{1B}[0m" : text }
    func good(_ text: String) -> String { hasColours ? "\u{1B}[32m\(text)\u{1B}[0m" : text }
}

/// One line on a terminal that says how far something is, ten times a second at most.
final class Progress {
    private let terminal: Terminal
    private let errors: (String) -> Void
    private var last = 0.0
    private var isShown = false

    init(_ terminal: Terminal, _ errors: @escaping (String) -> Void) {
        self.terminal = terminal
        self.errors = errors
    }

    func say(_ text: @autoclosure () -> String) {
        guard terminal.showsProgress else { return }
        let now = ProcessInfo.processInfo.systemUptime
        guard now - last > 0.1 else { return }
        last = now
        isShown = true
        errors("\r\u{1B}[K\(text())")
    }

    /// Takes the line away.
    func end() {
        if isShown { errors("\r\u{1B}[K") }
        isShown = false
    }
}
