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
