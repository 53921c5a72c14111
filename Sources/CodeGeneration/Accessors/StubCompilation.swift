import Foundation

/// Compiles an `AccessorStub`, with stubs of the modules that it needs.
struct StubCompilation {
    let stub: AccessorStub
    let target: TargetSources
    let compiler: SwiftCompiler
    /// The modules that `#if canImport(…)` tests for.
    let testedModules: Set<String>

    /// - Returns: the symbols by the numbers of the markers.
    /// - Throws: `GenerationFailure`, with the places in the original sources.
    func symbols() throws -> [Int: String] {
        let folder = try TemporaryFolder()
        var modules = ForeignModules(target: target, imported: stub.imported, compiler: compiler, folder: folder)
        for module in testedModules { try modules.compile(module) }
        var result = try compile(in: folder, importsOwn: false)
        while !result.succeeded, try modules.add(Self.missingTypes(in: result.errors)) {
            result = try compile(in: folder, importsOwn: false)
        }
        if !result.succeeded, result.errors.contains("is ambiguous for type lookup") {
            // Two imported modules have a type of this name, so each file imports only what its source does.
            result = try compile(in: folder, importsOwn: true)
        }
        guard result.succeeded else { throw GenerationFailure(problems(in: result.errors)) }
        return SymbolReader.symbols(in: String(decoding: result.output, as: UTF8.self))
    }

    private func compile(in folder: TemporaryFolder, importsOwn: Bool) throws -> SwiftCompiler.Output {
        let texts = stub.texts(importsOwn: importsOwn).sorted { $0.key < $1.key }
        let paths = try texts.map { try folder.write($0.key, $0.value) }
        return try compiler.run(
            ["-emit-silgen", "-module-name", target.moduleName, "-parse-as-library", "-suppress-warnings"]
                + ["-I", folder.url.path] + compiler.options + paths)
    }

    // MARK: Errors

    /// The names that the compiler does not know as types.
    private static func missingTypes(in errors: String) -> Set<String> {
        var names: Set<String> = []
        for line in errors.split(separator: "\n") {
            for start in ["error: cannot find type '", "error: no type named '"] {
                guard let range = line.range(of: start) else { continue }
                names.insert(String(line[range.upperBound...].prefix { $0 != "'" }))
            }
        }
        return names
    }

    /// The compiler's errors, at the declarations that they are about.
    private func problems(in errors: String) -> [Problem] {
        var problems: Set<Problem> = []
        for line in errors.split(separator: "\n") {
            // FILE:LINE:COLUMN: error: MESSAGE
            guard let error = line.range(of: ": error: ") else { continue }
            let place = line[..<error.lowerBound].split(separator: ":")
            guard place.count >= 3, let number = Int(place[place.count - 2]) else { continue }
            let file = place.dropLast(2).joined(separator: ":")
            let message = String(line[error.upperBound...])
            let onLine = stub.declarations.filter {
                $0.file.path == file && $0.file.position(of: $0.declaration.offset).line == number
            }
            // If a line has several declarations, the one whose type the message quotes is meant.
            let quoted = onLine.first { one in
                one.declaration.types.contains { !$0.identifiers.isDisjoint(with: message.identifiers) }
            }
            guard let declared = quoted ?? onLine.first else {
                problems.insert(Problem(file: file, line: number, column: 1, message: message))
                continue
            }
            problems.insert(
                declared.file.problem(
                    at: declared.declaration.offset,
                    "accessors for “\(declared.declaration.plainName)” cannot be supplied: \(message)"))
        }
        guard !problems.isEmpty else {
            return [Problem(file: compiler.executable, message: "no accessors can be supplied: \(errors)")]
        }
        return problems.sorted()
    }
}

/// Reads the symbols of the accessors of an `AccessorStub` from the compiler's intermediate language.
///
///     sil hidden [ossa] @$s3App6PersonC4nameSSSgvg : $@convention(method) … {
///       %2 = integer_literal $Builtin.IntLiteral, 17
///       %5 = function_ref @_pippinMarker : $@convention(thin) (Int) -> Never
///
/// What calls no marker has literals of its own, such as the hash of an enumeration.
enum SymbolReader {
    private struct Function {
        let symbol: Substring
        var number: Int?
        var callsMarker = false
    }

    /// - Returns: the symbols by the numbers of the markers.
    static func symbols(in intermediateLanguage: String) -> [Int: String] {
        var symbols: [Int: String] = [:]
        var current: Function?
        for line in intermediateLanguage.split(separator: "\n") {
            if line.hasPrefix("sil ") {
                current = nil
                guard line.hasSuffix("{"), let at = line.firstIndex(of: "@") else { continue }
                current = Function(symbol: line[line.index(after: at)...].prefix { $0 != " " })
            } else if let literal = line.range(of: "integer_literal $Builtin.IntLiteral, ") {
                current?.number = Int(line[literal.upperBound...].prefix { $0.isNumber })
            } else if line.contains("function_ref @\(AccessorStub.markerName) ") {
                current?.callsMarker = true
            }
            if let function = current, function.callsMarker, let number = function.number {
                symbols[number] = String(function.symbol)
                current = nil
            }
        }
        return symbols
    }
}

/// A source with only the managed declarations of a module and the types that they name, in files of the same names, so
/// that the compiler gives its accessors the same symbols as those of the real module.
///
/// It compiles without the modules that the target depends on. Each accessor calls the marker with a number of its own,
/// which is searched for in the compiler's output.
struct AccessorStub {
    /// A file of the stub.
    private struct File {
        /// The modules that its source imports.
        let modules: Set<String>
        let text: String
    }

    private var files: [String: File] = [:]
    /// The modules to import under `#if canImport`; a module may re-export others.
    private let modules: [String]
    /// The modules that the sources with managed declarations import.
    let imported: Set<String>
    /// The declarations, by the number of their getter, or of the method; a setter has the number after it.
    private(set) var declarations: [(file: SourceText, declaration: ManagedDeclaration)] = []

    /// The name of the function that each accessor calls, and its symbol. A mangled symbol would depend on the module:
    /// it abbreviates words that the module's name contains, too.
    static let markerName = "_pippinMarker"

    /// - Parameters:
    ///   - sources: all parsed sources; those without managed declarations give types.
    ///   - catalog: the types that the sources and the imported modules declare.
    ///   - types: the types to declare.
    ///   - generatedClasses: classes that no source declares.
    ///   - modules: the modules to import under `#if canImport`.
    ///   - imported: those of them that the sources with managed declarations import themselves.
    init(
        sources: [SourceDeclarations], catalog: TypeCatalog, types: Set<[String]>, generatedClasses: [String],
        modules: [String], imported: Set<String>
    ) {
        (self.modules, self.imported) = (modules, imported)
        for source in sources {
            var lines: [String] = []
            for type in source.types where types.contains(type.path) {
                lines += Self.located(source.source, type.offset, type.conditions, Self.text(of: type, catalog))
            }
            for declaration in source.managed {
                let text = Self.text(of: declaration, number: declarations.count * 2, catalog)
                declarations.append((source.source, declaration))
                lines += Self.located(source.source, declaration.offset, declaration.conditions, text)
            }
            guard !lines.isEmpty else { continue }
            files[source.source.fileName] = File(
                modules: Set(source.imports.map(\.module)), text: lines.joined(separator: "\n") + "\n")
        }
        let classes = generatedClasses.sorted().filter { catalog.declarations(of: [$0]).isEmpty }
        files["PippinGeneratedTypes.swift"] = File(
            modules: [],
            text:
                "@_silgen_name(\"\(Self.markerName)\") func \(Self.markerName)(_ number: Int) -> Never { fatalError() }\n"
                + classes.map { "class \($0): NSObject {}\n" }.joined())
    }

    /// - Parameter importsOwn: whether each file imports only what its source does.
    /// - Returns: the texts of the files, by name.
    func texts(importsOwn: Bool) -> [String: String] {
        files.mapValues { file in
            let others = modules.filter { $0 != "Foundation" && (!importsOwn || file.modules.contains($0)) }
            return (["Foundation"] + others).map { "#if canImport(\($0))\nimport \($0)\n#endif\n" }.joined() + file.text
        }
    }

    /// A line that compiler messages attribute to the original source, under its `#if` conditions.
    private static func located(
        _ source: SourceText, _ offset: Int, _ conditions: [String], _ text: String
    ) -> [String] {
        let line = source.position(of: offset).line
        let condition = conditions.joined(separator: " && ")
        let file = source.path.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
        return (condition.isEmpty ? [] : ["#if \(condition)"])
            + ["#sourceLocation(file: \"\(file)\", line: \(line))", text, "#sourceLocation()"]
            + (condition.isEmpty ? [] : ["#endif"])
    }

    private static func text(of type: TypeDeclaration, _ catalog: TypeCatalog) -> String {
        let access = type.access.isLimitedToFile ? "fileprivate " : ""
        let body = type.aliased.map { " = " + catalog.qualify($0, in: type.path) } ?? type.stubBody
        let text = "\(access)\(type.keyword) \(type.name)\(type.genericParameters)\(body)"
        return type.enclosing.isEmpty ? text : "extension \(type.enclosing.joined(separator: ".")) { \(text) }"
    }

    private static func text(of declaration: ManagedDeclaration, number: Int, _ catalog: TypeCatalog) -> String {
        // Access changes a symbol only where it is limited to the file.
        let access = declaration.access.isLimitedToFile ? "fileprivate " : ""
        let member: String
        switch declaration.kind {
        case .property(let type, _):
            member =
                "var \(declaration.name): \(catalog.qualify(type, in: declaration)) "
                + "{ get { \(markerName)(\(number)) } set { \(markerName)(\(number + 1)) } }"
        case .method(let parameters, let result):
            let list = parameters.map { "\($0.names): \(catalog.qualify($0.type, in: declaration))" }
            let arrow = result.map { " -> " + catalog.qualify($0, in: declaration) } ?? ""
            member = "func \(declaration.name)(\(list.joined(separator: ", ")))\(arrow) { \(markerName)(\(number)) }"
        }
        return "extension \(declaration.owner.joined(separator: ".")) { \(access)\(member) }"
    }
}

extension TypeDeclaration {
    /// The rest of a stub type's declaration after its name: enough for a set element.
    var stubBody: String {
        switch keyword {
        case "class": ": NSObject {}"
        case "struct": ": Hashable {}"
        // Without a case there would be no value to set, and no setter.
        case "enum": ": Hashable { case stub }"
        default: " {}"
        }
    }
}
