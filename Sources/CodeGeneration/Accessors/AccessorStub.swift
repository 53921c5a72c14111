import Foundation
import Ordering

/// A source that has nothing but the managed declarations of a module and the types they name, in files of the same
/// names, so that the compiler gives the accessors in it the symbols that it gives those of the real module.
///
/// No module that the target depends on needs to be built for that. Each accessor calls `marker` with a number of its
/// own, which is found again in what the compiler prints.
struct AccessorStub {
    /// A file of the stub.
    private struct File {
        /// The modules that its source imports.
        let modules: Set<String>
        let text: String
    }

    private var files: [String: File] = [:]
    /// What to import where it can be: a module may show others to those who import it.
    private let modules: [String]
    /// What the sources with managed declarations import.
    let imported: Set<String>
    /// The declarations, by the number of their getter, or of the method; a setter has the number after it.
    private(set) var declarations: [(file: SourceText, declaration: ManagedDeclaration)] = []

    /// The name of the function that each accessor calls, and its symbol: a mangled one would look different in a module whose name has a word
    /// of it.
    static let markerName = "_pippinMarker"

    /// - Parameters:
    ///   - sources: all parsed sources; those without managed declarations give types.
    ///   - catalogue: the types that the sources and the imported modules declare.
    ///   - types: the types to declare.
    ///   - generatedClasses: classes that no source declares.
    ///   - modules: what to import where it can be.
    ///   - imported: those of them that the sources with managed declarations import themselves.
    init(
        sources: [SourceDeclarations], catalogue: TypeCatalogue, types: Set<[String]>, generatedClasses: [String],
        modules: [String], imported: Set<String>
    ) {
        (self.modules, self.imported) = (modules, imported)
        for source in sources {
            var lines: [String] = []
            for type in source.types where types.contains(type.path) {
                lines += Self.located(source.source, type.offset, type.conditions, Self.text(of: type, catalogue))
            }
            for declaration in source.managed {
                let text = Self.text(of: declaration, number: declarations.count * 2, catalogue)
                declarations.append((source.source, declaration))
                lines += Self.located(source.source, declaration.offset, declaration.conditions, text)
            }
            guard !lines.isEmpty else { continue }
            files[source.source.fileName] = File(
                modules: Set(source.imports.map(\.module)), text: lines.joined(separator: "\n") + "\n")
        }
        let classes = generatedClasses.sorted().filter { catalogue.declarations(of: [$0]).isEmpty }
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

    /// A line that the compiler takes for one of the original source, under its conditions.
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

    private static func text(of type: TypeDeclaration, _ catalogue: TypeCatalogue) -> String {
        let access = type.access.isLimitedToFile ? "fileprivate " : ""
        let body = type.aliased.map { " = " + catalogue.qualify($0, in: type.path) } ?? type.stubBody
        let text = "\(access)\(type.keyword) \(type.name)\(type.genericParameters)\(body)"
        return type.enclosing.isEmpty ? text : "extension \(type.enclosing.joined(separator: ".")) { \(text) }"
    }

    private static func text(of declaration: ManagedDeclaration, number: Int, _ catalogue: TypeCatalogue) -> String {
        // Access changes a symbol only where it is limited to the file.
        let access = declaration.access.isLimitedToFile ? "fileprivate " : ""
        let member: String
        switch declaration.kind {
        case .property(let type, _):
            member =
                "var \(declaration.name): \(catalogue.qualify(type, in: declaration)) "
                + "{ get { \(markerName)(\(number)) } set { \(markerName)(\(number + 1)) } }"
        case .method(let parameters, let result):
            let list = parameters.map { "\($0.names): \(catalogue.qualify($0.type, in: declaration))" }
            let arrow = result.map { " -> " + catalogue.qualify($0, in: declaration) } ?? ""
            member = "func \(declaration.name)(\(list.joined(separator: ", ")))\(arrow) { \(markerName)(\(number)) }"
        }
        return "extension \(declaration.owner.joined(separator: ".")) { \(access)\(member) }"
    }
}

extension TypeDeclaration {
    /// What follows the name of a type that stands in for the real one: enough to be an element of a set.
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
