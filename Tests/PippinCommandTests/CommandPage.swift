import Foundation

/// `Documentation/Command line.md`: the files that it gives, and the commands with what they print.
struct CommandPage {
    struct Example {
        let command: String
        let arguments: [String]
        let status: Int32
        /// Lines; `…` stands for anything.
        let output: [String]
    }

    /// The files that the page gives, by their paths.
    private(set) var files: [String: String] = [:]
    private(set) var examples: [Example] = []

    init() throws {
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Documentation/Command line.md").standardizedFileURL
        let lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
        var position = 0
        var name = ""
        while position < lines.count {
            let line = lines[position]
            position += 1
            if line.hasSuffix("/contents`:"), let start = line.range(of: "`") {
                name = String(line[start.upperBound...].dropLast(2))
            }
            guard line == "```xml" || line == "```console" else { continue }
            let end = lines[position...].firstIndex(of: "```") ?? lines.count
            let block = Array(lines[position..<end])
            position = end + 1
            if line == "```xml" { files[name] = block.joined(separator: "\n") } else { add(block) }
        }
    }

    private mutating func add(_ block: [String]) {
        var rest = block[...]
        while let line = rest.popFirst() {
            guard line.hasPrefix("$ pippin ") else { continue }
            let parts = line.dropFirst(2).components(separatedBy: "   # exit status ")
            let output = Array(rest.prefix { !$0.hasPrefix("$ ") })
            examples.append(
                Example(
                    command: parts[0], arguments: Self.words(parts[0]),
                    status: parts.count > 1 ? Int32(parts[1]) ?? -1 : 0,
                    output: output))
            rest = rest.dropFirst(output.count)
        }
    }

    /// The arguments, those in quotation marks as one; without the command's name.
    private static func words(_ command: String) -> [String] {
        let parts = command.components(separatedBy: "\"")
        let words = parts.enumerated().flatMap { index, part in
            index % 2 == 1 ? [part] : part.split(separator: " ").map(String.init)
        }
        return Array(words.dropFirst())
    }

    /// Whether a line is as the page has it.
    static func matches(_ line: String, _ expected: String) -> Bool {
        let parts = expected.components(separatedBy: "…")
        guard parts.count > 1 else { return line == expected }
        guard let first = parts.first, let last = parts.last, line.hasPrefix(first), line.hasSuffix(last) else {
            return false
        }
        var position = line.startIndex
        for part in parts where !part.isEmpty {
            guard let range = line.range(of: part, range: position..<line.endIndex) else { return false }
            position = range.upperBound
        }
        return true
    }
}
