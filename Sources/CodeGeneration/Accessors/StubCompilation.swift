import Foundation
import Ordering

/// Has the compiler translate an `AccessorStub`, with stubs of those modules that it needs.
struct StubCompilation {
    let stub: AccessorStub
    let target: TargetSources
    let compiler: SwiftCompiler
    /// The modules that `#if canImport(…)` asks for.
    let testedModules: Set<String>

    /// - Returns: the symbols by the numbers of the markers.
    /// - Throws: `GenerationFailure`, with the places in the original sources.
    func symbols() throws -> [Int: String] {
        let folder = try TemporaryFolder()
        for module in testedModules { try compileModule(module, types: [], into: folder) }
        var result = try compile(in: folder)
        var searched: Set<String> = []
        while !result.succeeded {
            let missing = Self.missingTypes(in: result.errors).subtracting(searched)
            searched.formUnion(missing)
            guard !missing.isEmpty, try compileModules(declaring: searched, into: folder) else { break }
            result = try compile(in: folder)
        }
        guard result.succeeded else { throw GenerationFailure(problems(in: result.errors)) }
        return SymbolReader.symbols(in: String(decoding: result.output, as: UTF8.self))
    }

    private func compile(in folder: TemporaryFolder) throws -> SwiftCompiler.Output {
        let paths = try stub.files.ordered { $0.key < $1.key }.map { try folder.write($0.key, $0.value) }
        return try compiler.run(
            ["-emit-silgen", "-module-name", target.moduleName, "-parse-as-library", "-suppress-warnings"]
                + ["-I", folder.url.path] + compiler.options + paths)
    }

    // MARK: Modules that the target depends on

    /// Compiles stubs of the modules that declare the types.
    /// - Returns: whether any does.
    private func compileModules(declaring names: Set<String>, into folder: TemporaryFolder) throws -> Bool {
        var found = false
        for (module, path) in target.dependencies.ordered(by: { $0.key < $1.key }) {
            var pool = try SourcePool(TargetSources.swiftFiles(in: path), compiler: compiler)
            try pool.parseDeclarations(of: names)
            let types = pool.parsed.values.flatMap(\.types).filter {
                names.contains($0.name) && $0.access == .public && $0.enclosing.isEmpty
            }
            guard !types.isEmpty || names.contains(module) else { continue }
            try compileModule(module, types: types, into: folder)
            found = true
        }
        return found
    }

    private func compileModule(_ name: String, types: [TypeDeclaration], into folder: TemporaryFolder) throws {
        let declarations = types.map { type in
            let body = type.aliased.map { " = " + $0 } ?? type.stubBody
            return "public \(type.keyword) \(type.name)\(type.genericParameters)\(body)\n"
        }
        let path = try folder.write(
            "\(name)-module.swift", "import Foundation\n" + Set(declarations).sorted().joined())
        let result = try compiler.run([
            "-emit-module", "-module-name", name, "-parse-as-library", "-suppress-warnings", "-o",
            folder.url.appendingPathComponent("\(name).swiftmodule").path, path,
        ])
        guard result.succeeded else {
            throw GenerationFailure(
                file: target.dependencies[name] ?? name,
                "the types of module \(name) that @NSManaged declarations name cannot be stood in for:\n\(result.errors)"
            )
        }
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
            // Of several on one line, it is the one with the type that the message quotes.
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
