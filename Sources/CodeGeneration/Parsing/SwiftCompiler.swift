import Foundation

/// The Swift compiler of the toolchain that builds the package, asked for what only it knows: how a source parses,
/// and under which symbols a declaration is linked.
package struct SwiftCompiler: Sendable {
    /// The path of `swiftc`.
    let executable: String
    /// Options that every run gets, such as `-D` flags.
    let options: [String]

    package init(executable: String, options: [String] = []) {
        self.executable = executable
        self.options = options
    }

    /// The output of a run of the compiler.
    struct Output: Sendable {
        var succeeded: Bool
        var output: Data
        var errors: String
    }

    /// Runs the compiler's front end and waits for it.
    /// - Throws: `GenerationFailure` if it cannot be started.
    func run(_ arguments: [String]) throws -> Output {
        // Files rather than pipes: a full pipe would block the process until it is read.
        let folder = try TemporaryFolder()
        let outputPath = try folder.write("output", "")
        let errorsPath = try folder.write("errors", "")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable)
        process.arguments = ["-frontend"] + arguments
        process.standardInput = FileHandle.nullDevice
        do {
            process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: outputPath))
            process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errorsPath))
            try process.run()
        } catch {
            throw GenerationFailure(
                file: executable, "the Swift compiler does not start: \(error.localizedDescription)")
        }
        process.waitUntilExit()
        return Output(
            succeeded: process.terminationStatus == 0,
            output: (try? Data(contentsOf: URL(fileURLWithPath: outputPath))) ?? Data(),
            errors: (try? String(contentsOfFile: errorsPath, encoding: .utf8)) ?? "")
    }

    /// Parses a source, without looking at any module.
    ///
    /// The target's language mode is not known: the source is parsed with regular expressions between slashes, as in
    /// Swift 6, and if it does not parse then, without them.
    ///
    /// - Returns: the syntax tree, `nil` if the source does not parse: the compiler that builds the target says why.
    /// - Throws: `GenerationFailure` if the compiler does not start, or prints what cannot be understood.
    func parse(_ source: [UInt8], named name: String) throws -> SyntaxTree? {
        let folder = try TemporaryFolder()
        let path = try folder.write(name, Data(source))
        let arguments = ["-dump-parse", "-dump-ast-format", "json", path]
        var run = try run(["-enable-bare-slash-regex"] + arguments)
        if !run.succeeded, source.contains(UInt8(ascii: "/")) { run = try self.run(arguments) }
        guard run.succeeded else { return nil }
        do {
            return try JSONDecoder().decode(SyntaxTree.self, from: run.output)
        } catch {
            throw GenerationFailure(
                file: name, "the syntax tree that \(executable) prints is not as expected: \(error)")
        }
    }
}

/// A folder for files, which are removed when the object is released.
final class TemporaryFolder: Sendable {
    let url: URL

    /// - Throws: `GenerationFailure` if it cannot be made.
    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("pippin-" + UUID().uuidString)
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            throw GenerationFailure(file: url.path, "the folder cannot be made: \(error.localizedDescription)")
        }
    }

    deinit {
        // Nothing can be done about a leftover temporary file.
        try? FileManager.default.removeItem(at: url)
    }

    /// Writes a file and returns its path.
    func write(_ name: String, _ contents: Data) throws -> String {
        let file = url.appendingPathComponent(name)
        do {
            try contents.write(to: file)
        } catch {
            throw GenerationFailure(file: file.path, "the file cannot be written: \(error.localizedDescription)")
        }
        return file.path
    }

    func write(_ name: String, _ contents: String) throws -> String {
        try write(name, Data(contents.utf8))
    }
}

/// The part that matters here of what `swiftc -frontend -dump-parse -dump-ast-format json` prints.
///
/// The compiler does not promise the format to stay. So only what is needed is read, and everything that is read may
/// be missing; names of types and signatures are taken from the source, by position.
struct SyntaxTree: Decodable, Sendable {
    var items: [SyntaxNode]
}

/// A declaration or an attribute of a syntax tree.
struct SyntaxNode: Decodable, Sendable {
    /// The kind of node, by the compiler's name: `class_decl`, `var_decl`, `ns_managed_attr` …
    var kind: String
    /// The offset of its first token, and that of the first byte of its last token.
    var range: (start: Int, end: Int)?
    var name: String?
    var attributes: [SyntaxNode]
    var members: [SyntaxNode]
    var genericParameters: [SyntaxNode]
    /// The type that an extension extends, as written.
    var extendedType: String?
    var accessLevel: String?
    var modulePath: [String]
    var isStatic: Bool

    private enum Key: String, CodingKey {
        case kind = "_kind"
        case range, name, attrs, members, access, start, end
        case genericParameters = "generic_params"
        case extendedType = "extended_type"
        case accessLevel = "access_level"
        case modulePath = "module_path"
        case isStatic = "static"
        case baseName = "base_name"
    }

    init(from decoder: any Decoder) throws {
        let node = try decoder.container(keyedBy: Key.self)
        kind = try node.decode(String.self, forKey: .kind)
        if let range = try? node.nestedContainer(keyedBy: Key.self, forKey: .range),
            let start = try? range.decode(Int.self, forKey: .start),
            let end = try? range.decode(Int.self, forKey: .end)
        {
            self.range = (start, end)
        }
        if let name = try? node.nestedContainer(keyedBy: Key.self, forKey: .name),
            let baseName = try? name.nestedContainer(keyedBy: Key.self, forKey: .baseName)
        {
            self.name = try? baseName.decode(String.self, forKey: .name)
        }
        attributes = Self.nodes(node, .attrs)
        members = Self.nodes(node, .members)
        genericParameters = Self.nodes(node, .genericParameters)
        extendedType = try? node.decode(String.self, forKey: .extendedType)
        accessLevel =
            (try? node.decode(String.self, forKey: .accessLevel)) ?? (try? node.decode(String.self, forKey: .access))
        modulePath = (try? node.decode([String].self, forKey: .modulePath)) ?? []
        isStatic = (try? node.decode(Bool.self, forKey: .isStatic)) ?? false
    }

    private static func nodes(_ node: KeyedDecodingContainer<Key>, _ key: Key) -> [SyntaxNode] {
        (try? node.decode([SyntaxNode].self, forKey: key)) ?? []
    }

    func hasAttribute(_ kind: String) -> Bool {
        attributes.contains { $0.kind == kind }
    }

    /// The access level as written, `nil` if none is.
    var writtenAccess: String? {
        attributes.first { $0.kind == "access_control_attr" }?.accessLevel
    }
}
