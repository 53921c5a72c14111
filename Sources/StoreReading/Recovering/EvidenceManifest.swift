import Foundation
import ModelFiles

/// What a run of the program read and wrote, so that another person can repeat it: the bytes of each file as SHA-256,
/// sizes and times, before and after.
package struct EvidenceManifest {
    /// A file at one moment.
    package struct FileState: Equatable {
        package let path: String
        package let byteCount: Int64
        /// Seconds since 2001.
        package let modified: Double
        /// In hexadecimal digits; nil for a file that cannot be read.
        package let hash: String?

        /// Reads a file, piece by piece; nil if there is none.
        init?(_ path: String) {
            var facts = stat()
            guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
            (self.path, byteCount) = (path, Int64(facts.st_size))
            modified = Double(facts.st_mtim.tv_sec) - 978_307_200 + Double(facts.st_mtim.tv_nsec) / 1e9
            hash = SHA256.digits(ofFile: path)
        }

        fileprivate var json: String {
            JSONText.object([
                ("path", JSONText.string(path)), ("bytes", "\(byteCount)"),
                ("modified", JSONText.string(TextTools.iso8601(modified))),
                ("sha256", hash.map { JSONText.string($0) } ?? "null"),
            ])
        }
    }

    private let program: String
    private let arguments: [String]
    private let started: Date
    private let inputs: [String]
    private let before: [FileState]

    /// Looks at the files before they are read.
    ///
    /// - Parameters:
    ///   - program: the program's name and version.
    ///   - arguments: its arguments.
    ///   - stores: the stores that are read. What SQLite has beside them, and their large values, are looked at, too.
    package init(program: String, arguments: [String], stores: [String]) {
        (self.program, self.arguments, started) = (program, arguments, Date())
        inputs = stores.flatMap { Self.files(ofStore: URL(store: $0).path) }
        before = inputs.compactMap { FileState($0) }
    }

    /// A store's files: its database, what SQLite keeps beside it, and the files with large values.
    private static func files(ofStore path: String) -> [String] {
        let url = URL(fileURLWithPath: path)
        let folder = url.deletingLastPathComponent()
            .appendingPathComponent(".\(url.deletingPathExtension().lastPathComponent)_SUPPORT/_EXTERNAL_DATA").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return ["", "-wal", "-shm", "-journal"].map { path + $0 } + names.sorted().map { "\(folder)/\($0)" }
    }

    /// The manifest, after the run.
    ///
    /// - Parameters:
    ///   - outputs: the files that were written.
    ///   - status: the exit status.
    ///   - sources: what was read from where, as texts.
    /// - Returns: the text, in JSON.
    package func text(outputs: [String], status: Int32, sources: [String]) -> String {
        let after = inputs.compactMap { FileState($0) }
        func list(_ states: [FileState]) -> String {
            "[" + states.map { "\n    \($0.json)" }.joined(separator: ",") + (states.isEmpty ? "]" : "\n  ]")
        }
        let time = [started, Date()].map { JSONText.string(TextTools.iso8601($0.timeIntervalSinceReferenceDate)) }
        return """
            {
              "program": \(JSONText.string(program)),
              "arguments": [\(arguments.map(JSONText.string).joined(separator: ", "))],
              "started": \(time[0]),
              "ended": \(time[1]),
              "status": \(status),
              "read": \(list(before)),
              "unchanged": \(before == after),
              "sources": [\(sources.map(JSONText.string).joined(separator: ", "))],
              "written": \(list(outputs.compactMap { FileState($0) }))
            }

            """
    }
}
