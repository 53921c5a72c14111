import Foundation

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
