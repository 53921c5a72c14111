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
