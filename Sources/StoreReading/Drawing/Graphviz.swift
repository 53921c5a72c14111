import CoreData
import Synchronization

/// Draws a graph with Graphviz's `dot`, if that is installed.
package struct Graphviz {
    /// The folders where programs are looked for, as in `PATH`.
    package var path: String
    /// How many seconds a drawing may take.
    private let patience: Double
    /// The programs that are drawing, and whether each has taken too long. They have groups of processes of their own,
    /// and would outlive this one.
    private static let running = Mutex<[pid_t: Bool]>([:])
    private static let endsWithProgram: Void = EndingSignals.perform {
        running.withLock { for id in $0.keys { kill(id) } }
    }

    package init(path: String = ProcessInfo.processInfo.environment["PATH"] ?? "", patience: Double = 30) {
        (self.path, self.patience) = (path, patience)
    }

    /// The program; nil if it is not installed.
    package var executable: URL? {
        path.split(separator: ":").lazy.map { URL(fileURLWithPath: String($0)).appendingPathComponent("dot") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Draws a graph.
    ///
    /// - Parameters:
    ///   - graph: the graph in the language DOT.
    ///   - format: SVG or PNG.
    /// - Returns: the file's content.
    /// - Throws: `CommandError` that says what to install, or what Graphviz said.
    package func draw(_ graph: String, as format: GraphFormat) throws -> Data {
        guard let executable else {
            throw CommandError(
                "\(format.rawValue.uppercased()) is drawn by Graphviz, and there is no program “dot” in PATH. Install it "
                    + "(on Debian the package “graphviz”: apt install graphviz), or write --format dot")
        }
        let folder = try TemporaryFolder()
        let (source, drawing) = (
            folder.url.appendingPathComponent("graph.dot"), folder.url.appendingPathComponent("graph")
        )
        try Data(graph.utf8).write(to: source)
        let process = Process()
        let errors = Pipe()
        process.executableURL = executable
        process.arguments = ["-T\(format.rawValue)", "-o", drawing.path, source.path]
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        _ = Self.endsWithProgram
        try process.run()
        let id = process.processIdentifier
        Self.running.withLock { $0[id] = false }
        defer { Self.running.withLock { $0[id] = nil } }
        // A model from elsewhere may take forever to draw. The signals that a program can block are blocked.
        let ending = DispatchWorkItem {
            Self.running.withLock {
                guard $0[id] != nil else { return }
                $0[id] = true
                Self.kill(id)
            }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + patience, execute: ending)
        defer { ending.cancel() }
        // Read to the end before waiting: a full pipe would block the program forever.
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let isSignal = process.terminationReason == .uncaughtSignal
        guard !isSignal || Self.running.withLock({ $0[id] == false }) else {
            throw CommandError(
                "“\(executable.path)” was ended: it did not draw this in \(Int(patience.rounded(.up))) seconds")
        }
        guard process.terminationStatus == 0, let data = FileManager.default.contents(atPath: drawing.path) else {
            throw CommandError(
                "“\(executable.path)” \(isSignal ? "was ended by signal" : "failed with status") \(process.terminationStatus): "
                    + said.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return data
    }

    /// Its child processes, which hold the pipe for errors open, are ended too.
    private static func kill(_ id: pid_t) { if Foundation.kill(-id, SIGKILL) != 0 { Foundation.kill(id, SIGKILL) } }
}

/// The formats of drawings.
package enum GraphFormat: String, CaseIterable {
    case dot
    case svg
    case png
}
