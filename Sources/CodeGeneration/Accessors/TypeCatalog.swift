import Foundation

/// The types that the sources of a module declare, found by name.
struct TypeCatalog: Sendable {
    private var declarationsByPath: [[String]: [TypeDeclaration]] = [:]
    private let module: String

    /// - Parameter module: the module, whose name may be written before those of its types.
    init(module: String) { self.module = module }

    /// Whether no type is known.
    var isEmpty: Bool { declarationsByPath.isEmpty }

    mutating func add(_ declarations: [TypeDeclaration]) {
        for declaration in declarations { declarationsByPath[declaration.path, default: []].append(declaration) }
    }

    /// The declarations of a type: more than one where conditional compilation chooses.
    func declarations(of path: [String]) -> [TypeDeclaration] {
        declarationsByPath[path] ?? []
    }

    /// Whether a type of this name is declared, at any depth.
    func declares(_ name: String) -> Bool {
        declarationsByPath.keys.contains { $0.last == name }
    }

    /// The type that a name means when it is written inside a type, by Swift's rule: from the innermost scope out, in
    /// each with the types that a class inherits. In an extension, the types around the extended one are not scopes.
    func resolve(_ name: String, in scope: [String], isExtension: Bool = false, depth: Int = 0) -> [String]? {
        for count in stride(from: scope.count, through: 0, by: -1)
        where !isExtension || count == 0 || count == scope.count {
            if let path = member(name, of: Array(scope.prefix(count)), depth) { return path }
        }
        return nil
    }

    /// A type in a type, or in one that it inherits from.
    private func member(_ name: String, of owner: [String], _ depth: Int = 0) -> [String]? {
        if declarationsByPath[owner + [name]] != nil { return owner + [name] }
        // The compiler reports circular inheritance.
        guard depth < 32 else { return nil }
        return declarations(of: owner).lazy.compactMap { declaration in
            superclass(of: declaration, depth + 1).flatMap { member(name, of: $0, depth + 1) }
        }.first
    }

    /// The path of the class that a class inherits from; nil for one that is not declared here.
    func superclass(of type: TypeDeclaration, _ depth: Int = 0) -> [String]? {
        guard let names = type.superclass?.prefix(while: { $0 != "<" }).split(separator: ".").map(String.init) else {
            return nil
        }
        let rest = names.count > 1 && names[0] == module ? names.dropFirst() : names[...]
        guard let first = rest.first else { return nil }
        var path = resolve(first, in: type.enclosing, depth: depth)
        for name in rest.dropFirst() { path = path.flatMap { member(name, of: $0, depth) } }
        return path
    }

    /// A type as it is to be written at the top level of a file, where names of enclosing types are not in scope.
    ///
    ///     Set<Book> inside `enum Models { class Book …; class Person … }` becomes Set<Models.Book>
    func qualify(_ type: String, in scope: [String], isExtension: Bool = false) -> String {
        type.mapIdentifiers { name, isMember in
            guard !isMember, let path = resolve(name, in: scope, isExtension: isExtension), path.count > 1 else {
                return name
            }
            return path.joined(separator: ".")
        }
    }

    /// A type in a declaration, likewise.
    func qualify(_ type: String, in declaration: ManagedDeclaration) -> String {
        qualify(type, in: declaration.owner, isExtension: declaration.isInExtension)
    }

    /// The types declared here that a type names, each under its path; members of named types included.
    func paths(in type: String, scope: [String]) -> Set<[String]> {
        var paths: Set<[String]> = []
        var outer: [String]?
        _ = type.mapIdentifiers { name, isMember in
            outer = isMember ? outer.flatMap { member(name, of: $0) } : resolve(name, in: scope)
            if let outer { paths.insert(outer) }
            if !isMember, outer == nil, name == module { outer = [] }
            return name
        }
        return paths
    }
}

extension String {
    /// The names in a type, those of members included.
    var identifiers: Set<String> {
        var names: Set<String> = []
        _ = mapIdentifiers { name, _ in
            names.insert(name)
            return name
        }
        return names
    }

    /// The text with each identifier replaced by what `transform` makes of it, which also learns whether it
    /// follows a dot.
    func mapIdentifiers(_ transform: (_ name: String, _ isMember: Bool) -> String) -> String {
        var result = ""
        var name = ""
        var isMember = false
        for character in self {
            if character.isLetter || character.isNumber || character == "_" {
                if name.isEmpty { isMember = result.last == "." }
                name.append(character)
            } else {
                if !name.isEmpty { result += transform(name, isMember) }
                name = ""
                result.append(character)
            }
        }
        return result + (name.isEmpty ? "" : transform(name, isMember))
    }
}

/// Stubs of the modules that a target depends on, with the types that its accessors name.
struct ForeignModules {
    private let target: TargetSources
    private let imported: Set<String>
    private let compiler: SwiftCompiler
    private let folder: TemporaryFolder
    private var pools: [String: SourcePool] = [:]
    /// The names of the top-level types of each module that a stub replaces.
    private var names: [String: Set<String>] = [:]
    private var searched: Set<String> = []

    /// - Parameters:
    ///   - target: the target.
    ///   - imported: the modules that its sources import.
    ///   - compiler: the compiler of the stubs.
    ///   - folder: the folder for the compiled stubs.
    init(target: TargetSources, imported: Set<String>, compiler: SwiftCompiler, folder: TemporaryFolder) {
        (self.target, self.imported, self.compiler, self.folder) = (target, imported, compiler, folder)
    }

    /// Adds types to the modules that declare them: to those that the sources import, and if none does, to the others,
    /// which these may export.
    ///
    /// - Parameter missing: the names of types, or of modules.
    /// - Returns: whether any module declares any of them.
    /// - Throws: `GenerationFailure` if a source cannot be read, or a module cannot be compiled.
    mutating func add(_ missing: Set<String>) throws -> Bool {
        var missing = missing.subtracting(searched)
        searched.formUnion(missing)
        var changed: Set<String> = []
        let dependencies = Set(target.dependencies.keys)
        for modules in [imported.intersection(dependencies), dependencies.subtracting(imported)] {
            var found: Set<String> = []
            for module in modules.sorted() where !missing.isEmpty {
                let own = Set(try types(missing, in: module).filter(\.enclosing.isEmpty).map(\.name))
                guard !own.isEmpty || missing.contains(module) else { continue }
                names[module, default: []].formUnion(own)
                found.formUnion(own)
                changed.insert(module)
            }
            missing.subtract(found)
        }
        for module in changed { try compile(module) }
        return !changed.isEmpty
    }

    /// The public types of a module that have one of the names, or are in one that has. Those that are declared more
    /// than once follow each other, in the order of the sources.
    private mutating func types(_ names: Set<String>, in module: String) throws -> [TypeDeclaration] {
        var pool =
            try pools[module]
            ?? SourcePool(
                TargetSources.swiftFiles(in: target.dependencies[module] ?? ""), of: module, compiler: compiler)
        try pool.parseDeclarations(of: names, withExtensions: true)
        pools[module] = pool
        let types = pool.ordered.flatMap(\.types).filter { $0.access == .public && names.contains($0.path[0]) }
        let paths = Dictionary(grouping: types, by: \.path)
        return paths.filter { path, _ in path.indices.allSatisfy { paths[Array(path[...$0])] != nil } }
            .sorted { ($0.key.count, $0.key.joined(separator: ".")) < ($1.key.count, $1.key.joined(separator: ".")) }
            .flatMap(\.value)
    }

    /// Compiles a module with the types that it has so far, and those that these are aliases of.
    mutating func compile(_ module: String) throws {
        var names = names[module] ?? []
        var types: [TypeDeclaration] = []
        var size = -1
        while names.count > size {
            size = names.count
            types = try self.types(names, in: module)
            names.formUnion(types.compactMap(\.aliased).flatMap(\.identifiers))
        }
        var result = try compile(module, types)
        // A nested alias may refer to a third module's type. It is left out; nothing needs it.
        if !result.succeeded {
            result = try compile(module, types.filter { $0.aliased == nil || $0.enclosing.isEmpty })
        }
        guard result.succeeded else {
            throw GenerationFailure(
                file: target.dependencies[module] ?? module,
                "the types of module \(module) that @NSManaged declarations name cannot be stood in for:\n\(result.errors)"
            )
        }
    }

    private func compile(_ module: String, _ types: [TypeDeclaration]) throws -> SwiftCompiler.Output {
        var catalog = TypeCatalog(module: module)
        catalog.add(types)
        func text(of type: TypeDeclaration) -> String {
            let body = type.aliased.map { " = " + catalog.qualify($0, in: type.path) } ?? type.stubBody
            let text = "public \(type.keyword) \(type.name)\(type.genericParameters)\(body)"
            return type.enclosing.isEmpty ? text : "extension \(type.enclosing.joined(separator: ".")) { \(text) }"
        }
        var declarations: [String] = []
        for group in Dictionary(grouping: types.indices, by: { types[$0].path }).values.sorted(by: { $0[0] < $1[0] }) {
            // Of several declarations, the one whose conditions hold. The flags of the module's own build are not known
            // here.
            let others = group.dropFirst().isEmpty ? [] : group.filter { !types[$0].conditions.isEmpty }
            for place in others {
                let keyword = place == others.first ? "#if" : "#elseif"
                declarations += [
                    "\(keyword) \(types[place].conditions.joined(separator: " && "))", text(of: types[place]),
                ]
            }
            let last = group.first { types[$0].conditions.isEmpty } ?? group[0]
            declarations +=
                (others.isEmpty ? [] : ["#else"]) + [text(of: types[last])] + (others.isEmpty ? [] : ["#endif"])
        }
        let path = try folder.write(
            "\(module)-module.swift", "import Foundation\n" + declarations.map { $0 + "\n" }.joined())
        return try compiler.run([
            "-emit-module", "-module-name", module, "-parse-as-library", "-suppress-warnings", "-o",
            folder.url.appendingPathComponent("\(module).swiftmodule").path, path,
        ])
    }
}
