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

    /// Whether anybody sees it: what has to be counted for it alone need not be.
    var isSeen: Bool { terminal.showsProgress }

    /// Says how far something is.
    ///
    /// - Parameters:
    ///   - text: what is being done.
    ///   - fraction: how much of it is done, where that is known: drawn as a bar.
    func say(_ text: @autoclosure () -> String, _ fraction: @autoclosure () -> Double? = nil) {
        guard terminal.showsProgress else { return }
        let now = ProcessInfo.processInfo.systemUptime
        guard now - last > 0.1 else { return }
        last = now
        isShown = true
        errors("\r\u{1B}[K" + (fraction().map { Self.bar($0) + " " } ?? "") + text())
    }

    /// `[#######·············]  35 %`. Pure.
    static func bar(_ fraction: Double) -> String {
        let part = min(max(0, fraction.isNaN ? 0 : fraction), 1)
        let (width, percent) = (20, Int(part * 100))
        let full = Int(part * Double(width))
        let number = String(repeating: " ", count: 3 - String(percent).count) + String(percent)
        return "[" + String(repeating: "#", count: full) + String(repeating: "·", count: width - full) + "] \(number) %"
    }

    /// Takes the line away.
    func end() {
        if isShown { errors("\r\u{1B}[K") }
        isShown = false
    }
}
