import CodeGeneration
import Foundation
import ModelFiles

/// What CoreDataPlugin asks of the tool, from the command line.
struct Arguments {
    /// `model`, `mapping` or `sources`.
    var command: String
    private var values: [String: [String]] = [:]

    /// - Throws: `UsageError` if the arguments are not `COMMAND (--name value)…`; `--library` has no value.
    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        guard let command = rest.popFirst() else { throw UsageError("expected a command: model, mapping or sources") }
        self.command = command
        while let option = rest.popFirst() {
            guard option.hasPrefix("--") else { throw UsageError("expected an option instead of “\(option)”") }
            guard option != "--library" else {
                values[option] = []
                continue
            }
            guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value") }
            values[option, default: []].append(value)
        }
    }

    func all(_ option: String) -> [String] {
        values[option] ?? []
    }

    func one(_ option: String) throws -> String {
        guard let value = values[option]?.last else { throw UsageError("\(option) is missing") }
        return value
    }

    var isLibrary: Bool { values["--library"] != nil }

    var compiler: SwiftCompiler {
        get throws {
            SwiftCompiler(executable: try one("--compiler"), options: all("--define").flatMap { ["-D", $0] })
        }
    }

    /// The module and its sources.
    ///
    /// - Parameter generatedClasses: the classes that no source declares.
    /// - Returns: the module, its sources and what it depends on.
    /// - Throws: `UsageError` for arguments that are missing or malformed.
    func target(generatedClasses: [String]) throws -> TargetSources {
        var dependencies: [String: String] = [:]
        for dependency in all("--dependency") {
            let parts = dependency.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw UsageError("expected NAME=FOLDER instead of “\(dependency)”") }
            dependencies[parts[0]] = parts[1]
        }
        return TargetSources(
            moduleName: try one("--module"), paths: all("--source"), generatedClasses: generatedClasses,
            dependencies: dependencies)
    }
}

/// A mistake in the way the tool was called.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ message: String) {
        description = "error: ModelCompiler: \(message)"
    }
}

/// Compiles a mapping model into the `.cdm` that the target gets as a resource. Its two versions of the model are found
/// by the paths that it has for them.
enum MappingCommand {
    static func run(_ arguments: Arguments) throws {
        let source = URL(fileURLWithPath: try arguments.one("--mapping"))
        let destination = URL(fileURLWithPath: try arguments.one("--output"))
        try MappingCompiler.compiledData(ofSource: source).write(to: destination, options: .atomic)
    }
}

/// Compiles a model into the `.momd` or `.mom` that the target gets as a resource.
enum ModelCommand {
    static func run(_ arguments: Arguments) throws {
        let source = URL(fileURLWithPath: try arguments.one("--model"))
        let destination = URL(fileURLWithPath: try arguments.one("--output"))
        let target = try arguments.target(generatedClasses: [])
        let document = try ModelPackage(at: source).document()
        let finder = ClassFinder(
            target: target, generatedClasses: RecordModel(document, moduleName: target.moduleName).generatedClasses)
        let remarks = try SourceModelCompiler.compileModel(
            at: source, to: destination, moduleName: target.moduleName
        ) {
            finder.qualifiedName(of: $0)
        }
        for remark in remarks {
            let problem = Problem(
                file: remark.file.path, line: remark.line ?? 1, column: 1, message: remark.message, isWarning: true)
            try? FileHandle.standardError.write(contentsOf: Data("\(problem)\n".utf8))
        }
    }
}

/// Writes the Swift files that a target gets: the record classes of its models, the accessors of its `@NSManaged`
/// declarations and its name aliases.
enum SourcesCommand {
    static func run(_ arguments: Arguments) throws {
        let module = try arguments.one("--module")
        let folder = URL(fileURLWithPath: try arguments.one("--output"))
        var classes: [String] = []
        for path in arguments.all("--model") {
            let package = try ModelPackage(at: URL(fileURLWithPath: path))
            let version = try package.version(named: package.currentVersionName)
            let model = RecordModel(try package.document(), moduleName: module)
            let name = (path as NSString).lastPathComponent as NSString
            let source = try RecordClassWriter(model: model).source(file: ModelPackage.file(of: version).path) {
                ModelPackage.line(ofEntity: $0.entity, property: $0.property, in: version)
            }
            try write(source, to: folder, "\(module)+\(name.deletingPathExtension)Records.swift")
            classes += model.generatedClasses
        }
        let target = try arguments.target(generatedClasses: classes)
        let accessors = try AccessorGenerator(target: target, compiler: arguments.compiler).source()
        let names = try NameAliases.source(paths: target.paths, isLibrary: arguments.isLibrary)
        try write(accessors, to: folder, "\(module)+Accessors.swift")
        try write(names, to: folder, "\(module)+Names.swift")
    }

    /// Writes a file if it changes, so that an unchanged one is not compiled again.
    private static func write(_ text: String, to folder: URL, _ name: String) throws {
        let file = folder.appendingPathComponent(name)
        guard (try? String(contentsOf: file, encoding: .utf8)) != text else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
}
