import Foundation

/// The types that the sources of a module declare, found by name.
struct TypeCatalogue: Sendable {
    private var declarationsByPath: [[String]: [TypeDeclaration]] = [:]

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

    /// The type that a name means when it is written inside a type, by Swift's rule: from the innermost scope out.
    func resolve(_ name: String, in scope: [String]) -> [String]? {
        for depth in stride(from: scope.count, through: 0, by: -1) {
            let path = scope.prefix(depth) + [name]
            if declarationsByPath[Array(path)] != nil { return Array(path) }
        }
        return nil
    }

    /// A type as it is to be written at the top level of a file, where names of enclosing types are not in scope.
    ///
    ///     Set<Book> inside `enum Models { class Book …; class Person … }` becomes Set<Models.Book>
    func qualify(_ type: String, in scope: [String]) -> String {
        type.mapIdentifiers { name, isMember in
            guard !isMember, let path = resolve(name, in: scope), path.count > 1 else { return name }
            return path.joined(separator: ".")
        }
    }

    /// The types declared here that a type names, each under its path; members of named types included.
    func paths(in type: String, scope: [String]) -> Set<[String]> {
        var paths: Set<[String]> = []
        var outer: [String]?
        _ = type.mapIdentifiers { name, isMember in
            outer =
                isMember
                ? outer.flatMap { declarationsByPath[$0 + [name]] == nil ? nil : $0 + [name] }
                : resolve(name, in: scope)
            if let outer { paths.insert(outer) }
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
