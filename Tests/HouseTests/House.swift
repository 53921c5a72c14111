import Foundation

/// The sources and the manifest, read as text.
enum House {
    struct File {
        /// The path below `Sources`.
        let path: String
        let target: String
        /// The folder in the target; nil for a file beside the folders.
        let folder: String?
        let code: CodeNames
        /// The lines outside comments that have a string literal or a part of one, from where it begins.
        let literals: [String]
    }

    static var root: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
    }

    /// What each target of the library names.
    static func targets() throws -> [String: Set<String>] {
        let manifest = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let target = try Regex(
            #"\.(?:target|executableTarget|systemLibrary|macro)\(\s*name: "(\w+)"(?:,\s*dependencies: \[([^\]]*)\])?"#)
        let name = try Regex(#""(\w+)""#)
        var targets: [String: Set<String>] = [:]
        for match in manifest.matches(of: target) {
            guard let key = match.output[1].substring else { continue }
            let named = match.output[2].substring.map { text in
                text.matches(of: name).compactMap { $0.output[1].substring.map(String.init) }
            }
            targets[String(key)] = Set(named ?? [])
        }
        return targets
    }

    static func files() throws -> [File] { try cached.get() }

    private static let cached = Result { () throws -> [File] in
        let sources = root.appendingPathComponent("Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: sources.path)
        return try paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            file(path, try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8))
        }
    }

    private static func file(_ path: String, _ text: String) -> File {
        let parts = path.split(separator: "/").map(String.init)
        return File(
            path: path, target: parts[0], folder: parts.count > 2 ? parts[1] : nil, code: CodeNames(text),
            literals: literals(in: text))
    }

    private static func literals(in text: String) -> [String] {
        var isInBlock = false
        return text.split(separator: "\n").compactMap { line -> String? in
            let code = line.drop { $0 == " " }
            if isInBlock {
                isInBlock = !code.hasPrefix("\"\"\"")
                return isInBlock ? String(code) : nil
            }
            guard !code.hasPrefix("//"), let start = code.firstIndex(of: "\"") else { return nil }
            isInBlock = code.hasSuffix("\"\"\"")
            return String(code[start...])
        }
    }
}
