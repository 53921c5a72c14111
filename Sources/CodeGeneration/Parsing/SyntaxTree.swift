/// The part that matters here of what `swiftc -frontend -dump-parse -dump-ast-format json` prints.
///
/// The compiler does not promise the format to stay. So only what is needed is read, and everything that is read may
/// be missing; names of types and signatures are taken from the source, by position.
struct SyntaxTree: Decodable, Sendable {
    var items: [SyntaxNode]
}

/// A declaration or an attribute of a syntax tree.
struct SyntaxNode: Decodable, Sendable {
    /// The kind of node, by the compiler's name: `class_decl`, `var_decl`, `ns_managed_attr` …
    var kind: String
    /// The offset of its first token, and that of the first byte of its last token.
    var range: (start: Int, end: Int)?
    var name: String?
    var attributes: [SyntaxNode]
    var members: [SyntaxNode]
    var genericParameters: [SyntaxNode]
    /// The type that an extension extends, as written.
    var extendedType: String?
    var accessLevel: String?
    var modulePath: [String]
    var isStatic: Bool

    private enum Key: String, CodingKey {
        case kind = "_kind"
        case range, name, attrs, members, access, start, end
        case genericParameters = "generic_params"
        case extendedType = "extended_type"
        case accessLevel = "access_level"
        case modulePath = "module_path"
        case isStatic = "static"
        case baseName = "base_name"
    }

    init(from decoder: any Decoder) throws {
        let node = try decoder.container(keyedBy: Key.self)
        kind = try node.decode(String.self, forKey: .kind)
        if let range = try? node.nestedContainer(keyedBy: Key.self, forKey: .range),
            let start = try? range.decode(Int.self, forKey: .start),
            let end = try? range.decode(Int.self, forKey: .end)
        {
            self.range = (start, end)
        }
        if let name = try? node.nestedContainer(keyedBy: Key.self, forKey: .name),
            let baseName = try? name.nestedContainer(keyedBy: Key.self, forKey: .baseName)
        {
            self.name = try? baseName.decode(String.self, forKey: .name)
        }
        attributes = Self.nodes(node, .attrs)
        members = Self.nodes(node, .members)
        genericParameters = Self.nodes(node, .genericParameters)
        extendedType = try? node.decode(String.self, forKey: .extendedType)
        accessLevel =
            (try? node.decode(String.self, forKey: .accessLevel)) ?? (try? node.decode(String.self, forKey: .access))
        modulePath = (try? node.decode([String].self, forKey: .modulePath)) ?? []
        isStatic = (try? node.decode(Bool.self, forKey: .isStatic)) ?? false
    }

    private static func nodes(_ node: KeyedDecodingContainer<Key>, _ key: Key) -> [SyntaxNode] {
        (try? node.decode([SyntaxNode].self, forKey: key)) ?? []
    }

    func hasAttribute(_ kind: String) -> Bool {
        attributes.contains { $0.kind == kind }
    }

    /// The access level as written, `nil` if none is.
    var writtenAccess: String? {
        attributes.first { $0.kind == "access_control_attr" }?.accessLevel
    }
}
