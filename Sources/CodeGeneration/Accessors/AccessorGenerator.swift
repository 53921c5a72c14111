import Foundation

/// Supplies the accessors of a module's `@NSManaged` declarations, and what calls its validators by name.
///
/// `@NSManaged` promises the compiler that accessors exist at run time, so it makes none, and off Apple's platforms
/// the linker misses them. They are generated into a file of the same module, as accessors of other properties that
/// are linked under the missing symbols (`@_silgen_name`). The symbols' names are taken from the compiler's
/// output.
package struct AccessorGenerator {
    private let target: TargetSources
    private let compiler: SwiftCompiler

    package init(target: TargetSources, compiler: SwiftCompiler) {
        self.target = target
        self.compiler = compiler
    }

    /// - Returns: the text of the file with the accessors.
    /// - Throws: `GenerationFailure` with all that cannot be handled.
    package func source() throws -> String {
        var pool = try SourcePool(target.paths, of: target.moduleName, compiler: compiler)
        try pool.parse { $0.contains("@NSManaged") || $0.contains(ValidatorDeclaration.parameterType) }
        let problems = pool.parsed.values.flatMap { $0.problems + unsupportedMethods($0) }
        guard problems.isEmpty else { throw GenerationFailure(problems.sorted()) }
        let validators = try ValidatorWriter.text(pool.ordered)
        guard pool.parsed.values.contains(where: { !$0.managed.isEmpty }) else {
            guard !validators.isEmpty else { return AccessorWriter.nothing }
            return "\(AccessorWriter.header)@_spi(GeneratedCode) import CoreData\n\n\(validators)"
        }
        let accessors = try accessors(&pool)
        return validators.isEmpty ? accessors : "\(accessors)\n\(validators)"
    }

    private func accessors(_ pool: inout SourcePool) throws -> String {
        let (catalog, types) = try namedTypes(&pool)
        let sources = pool.ordered
        try checkAccess(sources, catalog)

        // The build configuration's flags are not known here; SwiftPM itself defines only DEBUG.
        let conditions = sources.flatMap { $0.types.flatMap(\.conditions) + $0.managed.flatMap(\.conditions) }
        let release = try source(sources, catalog, types, conditions, compiler)
        guard conditions.contains(where: { $0.identifiers.contains("DEBUG") }) else { return release }
        let debugCompiler = SwiftCompiler(
            executable: compiler.executable, options: compiler.options + ["-D", "DEBUG"])
        let debug = try source(sources, catalog, types, conditions, debugCompiler)
        return debug == release ? debug : "#if DEBUG\n\(debug)#else\n\(release)#endif\n"
    }

    private func source(
        _ sources: [SourceDeclarations], _ catalog: TypeCatalog, _ types: Set<[String]>, _ conditions: [String],
        _ compiler: SwiftCompiler
    ) throws -> String {
        let imports = Set(sources.filter { !$0.managed.isEmpty }.flatMap(\.imports))
        let modules = Set(imports.map(\.module)).union(["CoreData"]).subtracting([target.moduleName])
        let stub = AccessorStub(
            sources: sources, catalog: catalog, types: types, generatedClasses: target.generatedClasses,
            modules: modules.union(target.dependencies.keys).sorted(), imported: modules)
        let symbols = try StubCompilation(
            stub: stub, target: target, compiler: compiler,
            testedModules: Set(conditions.flatMap(\.identifiers)).intersection(target.dependencies.keys)
        ).symbols()
        if symbols.isEmpty, conditions.isEmpty, let (file, declaration) = stub.declarations.first {
            throw GenerationFailure([
                file.problem(
                    at: declaration.offset,
                    "the compiler names no symbol of its accessors; is it another version of Swift than that of the build?"
                )
            ])
        }
        return AccessorWriter(stub: stub, symbols: symbols, catalog: catalog, imports: imports).text()
    }

    private func unsupportedMethods(_ source: SourceDeclarations) -> [Problem] {
        source.managed.filter { !AccessorCall($0).isSupported }.map { method in
            source.source.problem(
                at: method.offset,
                "Core Data has no accessor “\(method.plainName)” with these parameters; for a relationship “books” it "
                    + "has addToBooks(_:), removeFromBooks(_:) and, if ordered, insertIntoBooks(_:at:), "
                    + "removeFromBooks(at:) and replaceBooks(at:with:)")
        }
    }

    /// Finds the types that the managed declarations name, and what those name in turn.
    private func namedTypes(_ pool: inout SourcePool) throws -> (TypeCatalog, Set<[String]>) {
        var searched: Set<String> = []
        while true {
            let sources = pool.ordered
            var catalog = TypeCatalog(module: target.moduleName)
            for source in sources { catalog.add(source.types) }

            var names: Set<String> = []
            var paths: Set<[String]> = []
            for declaration in sources.flatMap(\.managed) {
                names.formUnion(declaration.owner)
                paths.formUnion(declaration.owner.indices.map { Array(declaration.owner[...$0]) })
                for type in declaration.types {
                    names.formUnion(type.identifiers)
                    paths.formUnion(catalog.paths(in: type, scope: declaration.owner))
                }
            }
            // Classes inherit the types that are declared in their superclasses. The compiler refuses a circle later.
            var (classes, seen) = (paths, paths)
            while let path = classes.popFirst() {
                for declaration in catalog.declarations(of: path) {
                    names.formUnion(declaration.superclass?.identifiers ?? [])
                    guard let path = catalog.superclass(of: declaration), seen.insert(path).inserted else { continue }
                    classes.insert(path)
                }
            }
            var unfollowed = paths
            while let path = unfollowed.popFirst() {
                let aliases = catalog.declarations(of: path).compactMap(\.aliased)
                names.formUnion(aliases.flatMap(\.identifiers))
                var next = Set(aliases.flatMap { catalog.paths(in: $0, scope: path) })
                next.formUnion(path.indices.map { Array(path[...$0]) })
                next.subtract(paths)
                paths.formUnion(next)
                unfollowed.formUnion(next)
            }

            let unknown = names.subtracting(searched).filter { !catalog.declares($0) }
            guard !unknown.isEmpty else { return (catalog, paths) }
            searched.formUnion(unknown)
            try pool.parseDeclarations(of: unknown)
        }
    }

    /// A type that only its own file can see cannot be named in the generated file.
    private func checkAccess(_ sources: [SourceDeclarations], _ catalog: TypeCatalog) throws {
        var problems: [Problem] = []
        for source in sources {
            for declaration in source.managed {
                let paths = declaration.types.flatMap { catalog.paths(in: $0, scope: declaration.owner) }
                let hidden = paths.filter { path in
                    path.indices.contains { depth in
                        let declarations = catalog.declarations(of: Array(path[...depth]))
                        return !declarations.isEmpty && declarations.allSatisfy(\.access.isLimitedToFile)
                    }
                }
                for path in Set(hidden).sorted(by: { $0.joined() < $1.joined() }) {
                    problems.append(
                        source.source.problem(
                            at: declaration.offset,
                            "the accessors of “\(declaration.plainName)” are generated in another file, which cannot "
                                + "see the type “\(path.joined(separator: "."))”: make the type internal"))
                }
            }
        }
        guard problems.isEmpty else { throw GenerationFailure(problems) }
    }
}

extension ManagedDeclaration {
    /// All types in the declaration, as written.
    var types: [String] {
        switch kind {
        case .property(let type, _): [type]
        case .method(let parameters, let result): parameters.map(\.type) + (result.map { [$0] } ?? [])
        }
    }
}

/// Writes what lets Core Data call methods such as `validateTitle(_:)`, which the Objective-C runtime finds by name.
///
/// Each class with such methods gets a class beside it, which calls them by their keys, and which Core Data finds by
/// its name.
enum ValidatorWriter {
    /// - Parameter sources: the sources of a module.
    /// - Returns: the declarations; empty if there are no such methods.
    /// - Throws: `GenerationFailure` with the methods that another file cannot call.
    static func text(_ sources: [SourceDeclarations]) throws -> String {
        let problems = sources.flatMap { source in
            source.validators.filter(\.access.isLimitedToFile).map { validator in
                source.source.problem(
                    at: validator.offset,
                    "Core Data calls “\(validator.name)(_:)” from generated code in another file, which cannot see "
                        + "it: make the method and its class internal")
            }
        }
        guard problems.isEmpty else { throw GenerationFailure(problems.sorted()) }
        let groups = Dictionary(grouping: sources.flatMap(\.validators), by: \.owner)
        return groups.keys.sorted { $0.joined() < $1.joined() }
            .map { text(of: groups[$0] ?? [], in: $0) }.joined(separator: "\n")
    }

    private static func text(of validators: [ValidatorDeclaration], in owner: [String]) -> String {
        let type = owner.joined(separator: ".")
        let cases = validators.flatMap { validator in
            let lines = [
                "        case \(validator.capitalizedKey.asLiteral): try object.\(validator.name)(value)"
            ]
            guard !validator.conditions.isEmpty else { return lines }
            return ["        #if \(validator.conditions.joined(separator: " && "))"] + lines + ["        #endif"]
        }
        return """
            \(AccessorWriter.isolation)final class _ValidatorsOf_\(owner.joined(separator: "_")): NamedValidators {
                static var validatedClass: NSManagedObject.Type { \(type).self }

                static func validate(
                    _ object: NSManagedObject, _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>,
                    forCapitalizedKey key: String
                ) throws -> Bool {
                    guard let object = object as? \(type) else { return false }
                    switch key {
            \(cases.joined(separator: "\n"))
                    default: return false
                    }
                    return true
                }
            }

            """
    }
}
