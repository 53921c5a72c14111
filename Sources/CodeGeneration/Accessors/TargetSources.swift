import Foundation

/// The sources of one target, as the build system names them.
package struct TargetSources: Sendable {
    /// The name that Swift knows the target's module by.
    package var moduleName: String
    /// The Swift files that the developer wrote.
    package var paths: [String]
    /// The classes that are generated from the target's models.
    package var generatedClasses: [String]
    /// The folders with the sources of the modules that the target depends on, directly or not.
    package var dependencies: [String: String]

    package init(
        moduleName: String, paths: [String], generatedClasses: [String] = [], dependencies: [String: String] = [:]
    ) {
        self.moduleName = moduleName
        self.paths = paths
        self.generatedClasses = generatedClasses
        self.dependencies = dependencies
    }

    /// The Swift files in the folder of a module.
    static func swiftFiles(in folder: String) -> [String] {
        let files = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
        return files.filter { $0.hasSuffix(".swift") }.sorted().map { folder + "/" + $0 }
    }
}

/// Sources of which only those are parsed that matter: parsing takes a run of the compiler each.
struct SourcePool {
    private let sources: [(text: SourceText, contents: String)]
    private let module: String
    private let compiler: SwiftCompiler
    private(set) var parsed: [String: SourceDeclarations] = [:]

    init(_ paths: [String], of module: String, compiler: SwiftCompiler) throws {
        self.module = module
        self.compiler = compiler
        sources = try paths.sorted().map { path in
            let text = try SourceText(contentsOf: path)
            return (text, String(decoding: text.bytes, as: UTF8.self))
        }
    }

    /// The parsed sources, in the order of the sources' paths.
    var ordered: [SourceDeclarations] { parsed.values.sorted { $0.source.path < $1.source.path } }

    /// Whether a text occurs in any of the sources.
    func contains(_ text: String) -> Bool {
        sources.contains { $0.contents.contains(text) }
    }

    /// Parses the sources that the text of which a condition holds for, and that have not been parsed.
    mutating func parse(where condition: (String) -> Bool) throws {
        let wanted = sources.filter { parsed[$0.text.path] == nil && condition($0.contents) }.map(\.text)
        for declarations in try Self.parse(wanted, of: module, compiler) {
            parsed[declarations.source.path] = declarations
        }
    }

    /// Parses the sources that seem to declare one of the types, or, if asked for, to extend one.
    mutating func parseDeclarations(of names: Set<String>, withExtensions: Bool = false) throws {
        guard !names.isEmpty else { return }
        let alternatives = names.sorted().map(NSRegularExpression.escapedPattern).joined(separator: "|")
        let extensions = withExtensions ? "|extension(\\s+\(module)\\s*\\.)?" : ""
        let pattern = "\\b(class|struct|enum|protocol|actor|typealias\(extensions))\\s*\\b(\(alternatives))\\b"
        try parse { $0.range(of: pattern, options: .regularExpression) != nil }
    }

    /// Several runs of the compiler at once, as many as there are processors.
    private static func parse(
        _ sources: [SourceText], of module: String, _ compiler: SwiftCompiler
    ) throws -> [SourceDeclarations] {
        let results = Results()
        DispatchQueue.concurrentPerform(iterations: sources.count) { index in
            let source = sources[index]
            results.set(
                source.path,
                Result {
                    try ParsedSource(source, compiler: compiler).map {
                        DeclarationFinder.declarations(in: $0, module: module)
                    } ?? SourceDeclarations(source: source)
                })
        }
        return try sources.compactMap { try results.values[$0.path]?.get() }
    }

    /// Collects the results of concurrent runs.
    private final class Results: @unchecked Sendable {
        // @unchecked Sendable: `lock` guards the only variable while runs go on.
        private let lock = NSLock()
        private(set) var values: [String: Result<SourceDeclarations, any Error>] = [:]

        func set(_ path: String, _ result: Result<SourceDeclarations, any Error>) {
            lock.withLock { values[path] = result }
        }
    }
}
