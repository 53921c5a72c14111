import CoreData

/// Draws a graph with Graphviz's `dot`, if that is installed.
package struct Graphviz {
    /// The folders where programs are looked for, as in `PATH`.
    package var path: String
    /// How many seconds a drawing may take.
    private static let patience = 30.0

    package init(path: String = ProcessInfo.processInfo.environment["PATH"] ?? "") { self.path = path }

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
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (source, drawing) = (folder.appendingPathComponent("graph.dot"), folder.appendingPathComponent("graph"))
        try Data(graph.utf8).write(to: source)
        let process = Process()
        let errors = Pipe()
        process.executableURL = executable
        process.arguments = ["-T\(format.rawValue)", "-o", drawing.path, source.path]
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        // A model from elsewhere may take forever to draw.
        let ending = DispatchWorkItem { process.terminate() }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.patience, execute: ending)
        defer { ending.cancel() }
        // Read to the end before waiting: a full pipe would block the program forever.
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0, let data = FileManager.default.contents(atPath: drawing.path) else {
            throw CommandError(
                "“\(executable.path)” failed with status \(process.terminationStatus): "
                    + said.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return data
    }
}
