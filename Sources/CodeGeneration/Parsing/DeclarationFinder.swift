import Foundation

/// Finds the types and the `@NSManaged` declarations of a source in its syntax tree.
struct DeclarationFinder {
    private let parsed: ParsedSource
    private let module: String
    private var found: SourceDeclarations
    /// The offsets of the `@NSManaged` attributes whose declarations were understood.
    private var understood: Set<Int> = []

    /// The enclosing scope of a declaration.
    private struct Scope {
        var path: [String] = []
        var keyword = ""
        var isExtension = false
        var isGeneric = false
        /// The access level that an extension hands to its members.
        var memberAccess: String?
        /// The most private type around it.
        var enclosingAccess = Access.module(nil)
    }

    private init(_ parsed: ParsedSource, module: String) {
        self.parsed = parsed
        self.module = module
        found = SourceDeclarations(source: parsed.source)
    }

    /// - Parameters:
    ///   - parsed: the source.
    ///   - module: the module that it belongs to, which may be written before the name of a type.
    /// - Returns: the declarations; those that cannot be handled are among its `problems`.
    static func declarations(in parsed: ParsedSource, module: String) -> SourceDeclarations {
        var finder = DeclarationFinder(parsed, module: module)
        finder.visit(parsed.tree.items, in: Scope())
        finder.reportOthers()
        return finder.found
    }

    private mutating func visit(_ nodes: [SyntaxNode], in scope: Scope) {
        for (index, node) in nodes.enumerated() {
            switch node.kind {
            case "import_decl": visitImport(node)
            case "class_decl": visitType(node, keyword: "class", in: scope)
            case "struct_decl": visitType(node, keyword: "struct", in: scope)
            case "enum_decl": visitType(node, keyword: "enum", in: scope)
            case "protocol": visitType(node, keyword: "protocol", in: scope)
            case "typealias": visitType(node, keyword: "typealias", in: scope)
            case "extension_decl": visitExtension(node)
            case "pattern_binding_decl":
                let variables = nodes[(index + 1)...].prefix { $0.kind == "var_decl" }
                visitProperties(node, Array(variables), in: scope)
            case "func_decl": visitMethod(node, in: scope)
            default: break
            }
        }
    }

    private mutating func visitImport(_ node: SyntaxNode) {
        guard let module = node.modulePath.first, let start = node.range?.start else { return }
        // `import struct Module.Type` imports the module as far as names in generated code are concerned.
        let access = node.writtenAccess
        found.imports.append(
            ModuleImport(module: module, isPublic: access == "public", conditions: parsed.conditions(at: start)))
    }

    private mutating func visitType(_ node: SyntaxNode, keyword: String, in scope: Scope) {
        guard let name = node.name, let range = parsed.range(of: node) else { return }
        let written = node.writtenAccess ?? scope.memberAccess
        let own = Access(written)
        var aliased: String?
        if keyword == "typealias" {
            // typealias Name<T> = Type
            let parts = parsed.code(range).splitOutsideBrackets(at: "=")
            aliased = parts.count > 1 ? parts[1].components(separatedBy: " where ")[0] : nil
        }
        var superclass: String?
        if keyword == "class" {
            // class Name<T: Bound>: Superclass, Protocol {
            let head = String(parsed.code(range).prefix { $0 != "{" }).splitOutsideBrackets(at: ":")
            let first = head.count > 1 ? head[1].splitOutsideBrackets(at: ",").first : nil
            superclass = first?.components(separatedBy: " where ")[0]
        }
        let generics = node.genericParameters.compactMap { parameter in
            parameter.name.map { (isPack(parameter) ? "each " : "") + $0 }
        }
        found.types.append(
            TypeDeclaration(
                keyword: keyword, name: name, enclosing: scope.path,
                genericParameters: generics.isEmpty ? "" : "<\(generics.joined(separator: ", "))>", aliased: aliased,
                superclass: superclass, access: own, conditions: parsed.conditions(at: range.lowerBound),
                offset: range.lowerBound))
        visit(
            node.members,
            in: Scope(
                path: scope.path + [name], keyword: keyword, isGeneric: scope.isGeneric || !generics.isEmpty,
                enclosingAccess: own.isLimitedToFile ? own : scope.enclosingAccess))
    }

    private func isPack(_ parameter: SyntaxNode) -> Bool {
        parsed.range(of: parameter).map { parsed.code($0).hasPrefix("each ") } ?? false
    }

    private mutating func visitExtension(_ node: SyntaxNode) {
        guard let extended = node.extendedType else { return }
        var path = extended.components(separatedBy: ".")
        if path.count > 1, path[0] == module { path.removeFirst() }
        // An extension says nothing about the kind of type; what is managed is in a class, or the compiler objects.
        visit(
            node.members,
            in: Scope(
                path: path, keyword: "class", isExtension: true,
                isGeneric: extended.contains("<"), memberAccess: node.writtenAccess))
    }

    private mutating func visitProperties(_ binding: SyntaxNode, _ variables: [SyntaxNode], in scope: Scope) {
        guard let managed = variables.first(where: { $0.hasAttribute("ns_managed_attr") }),
            let offset = attributeOffset(managed), let range = parsed.range(of: binding)
        else { return }
        understood.insert(offset)
        guard accept(managed, at: offset, in: scope) else { return }

        // var first, second: Type, third: Type
        let code = parsed.code(range)
        guard let keyword = code.range(of: "var ") else {
            report(offset, "the @NSManaged declaration “\(managed.name ?? "")” has no “var” that could be read")
            return
        }
        let entries = code[keyword.upperBound...].splitOutsideBrackets(at: ",").map { entry in
            let parts = entry.splitOutsideBrackets(at: ":")
            return (name: parts[0], type: parts.count > 1 ? parts[1...].joined(separator: ": ") : nil)
        }
        var type: String?
        var declarations: [ManagedDeclaration] = []
        for entry in entries.reversed() {
            type = entry.type ?? type
            guard let type else {
                report(offset, "the @NSManaged property “\(entry.name)” needs a type")
                return
            }
            let setter = managed.attributes.first { $0.kind == "setter_access_attr" }?.accessLevel
            declarations.append(
                ManagedDeclaration(
                    kind: .property(type: type, setterAccess: setter.map(Access.init)), name: entry.name,
                    owner: scope.path, isInExtension: scope.isExtension,
                    access: Access(managed.writtenAccess ?? scope.memberAccess),
                    conditions: parsed.conditions(at: offset), offset: offset))
        }
        found.managed += declarations.reversed()
    }

    private mutating func visitMethod(_ node: SyntaxNode, in scope: Scope) {
        visitValidator(node, in: scope)
        guard node.hasAttribute("ns_managed_attr"), let offset = attributeOffset(node),
            let range = parsed.range(of: node), let name = node.name
        else { return }
        understood.insert(offset)
        guard accept(node, at: offset, in: scope) else { return }

        // func name(_ value: Type, at index: Int) -> Result
        let code = parsed.code(range)
        guard let open = code.firstIndex(of: "("), let close = code.closingParenthesis(of: open),
            !code[..<open].contains("<")
        else {
            report(offset, "the @NSManaged method “\(name)” is generic; Core Data has no such accessors")
            return
        }
        let parameters = code[code.index(after: open)..<close].splitOutsideBrackets(at: ",").filter { !$0.isEmpty }
        let rest = code[code.index(after: close)...].trimmingCharacters(in: .whitespaces)
        guard rest.isEmpty || rest.hasPrefix("->") else {
            report(offset, "the @NSManaged method “\(name)” may be neither async nor throwing")
            return
        }
        found.managed.append(
            ManagedDeclaration(
                kind: .method(
                    parameters: parameters.map { parameter in
                        let parts = parameter.splitOutsideBrackets(at: ":")
                        return .init(names: parts[0], type: parts.dropFirst().joined(separator: ": "))
                    },
                    result: rest.isEmpty ? nil : rest.dropFirst(2).trimmingCharacters(in: .whitespaces)),
                name: name, owner: scope.path, isInExtension: scope.isExtension,
                access: Access(node.writtenAccess ?? scope.memberAccess), conditions: parsed.conditions(at: offset),
                offset: offset))
    }

    /// func validateTitle(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws
    private mutating func visitValidator(_ node: SyntaxNode, in scope: Scope) {
        guard let name = node.name, name.hasPrefix(ValidatorDeclaration.prefix), !node.isStatic,
            scope.keyword == "class", !scope.isGeneric, let range = parsed.range(of: node)
        else { return }
        let code = parsed.code(range)
        guard let open = code.firstIndex(of: "("), let close = code.closingParenthesis(of: open) else { return }
        let parameters = code[code.index(after: open)..<close].splitOutsideBrackets(at: ":")
        let rest = code[code.index(after: close)...].trimmingCharacters(in: .whitespaces)
        guard parameters.count == 2, parameters[0].hasPrefix("_ "),
            parameters[1] == ValidatorDeclaration.parameterType, rest.hasPrefix("throws"), !rest.contains("->")
        else { return }
        let written = Access(node.writtenAccess ?? scope.memberAccess)
        let validator = ValidatorDeclaration(
            name: name, owner: scope.path,
            access: scope.enclosingAccess.isLimitedToFile ? scope.enclosingAccess : written,
            conditions: parsed.conditions(at: range.lowerBound), offset: range.lowerBound)
        if !validator.capitalizedKey.isEmpty { found.validators.append(validator) }
    }

    private func attributeOffset(_ node: SyntaxNode) -> Int? {
        node.attributes.first { $0.kind == "ns_managed_attr" }?.range?.start
    }

    /// Whether accessors can be supplied for a declaration; reports why not.
    private mutating func accept(_ node: SyntaxNode, at offset: Int, in scope: Scope) -> Bool {
        if scope.keyword != "class" {
            report(offset, "@NSManaged is for the properties and methods of a subclass of NSManagedObject")
        } else if node.isStatic {
            report(offset, "@NSManaged is for objects; a static or class declaration belongs to the type")
        } else if scope.isGeneric {
            report(offset, "a generic class cannot have @NSManaged declarations: no entity of a model can name it")
        } else if scope.enclosingAccess.isLimitedToFile {
            let keyword = scope.enclosingAccess == .private ? "private" : "fileprivate"
            report(
                offset,
                "the accessors are generated in another file, which cannot see the \(keyword) class "
                    + "“\(scope.path.joined(separator: "."))”: make the class internal")
        } else {
            return true
        }
        return false
    }

    private mutating func report(_ offset: Int, _ message: String) {
        found.problems.append(parsed.source.problem(at: offset, message))
    }

    /// Reports the attributes that no visit came by, such as those of a class inside a function.
    private mutating func reportOthers() {
        let attribute = Array("@NSManaged".utf8)
        for offset in parsed.code.indices.dropLast(attribute.count)
        where parsed.code[offset] == attribute[0] && !understood.contains(offset)
            && parsed.code[offset...].starts(with: attribute)
            && !parsed.code[offset + attribute.count].isPartOfIdentifier
        {
            report(
                offset,
                "accessors for an @NSManaged declaration in this place cannot be supplied: move its class "
                    + "to the top level of a file or into a type")
        }
    }
}

extension String {
    /// The parenthesis that closes the one at an index.
    fileprivate func closingParenthesis(of open: Index) -> Index? {
        var depth = 0
        for index in self[open...].indices {
            if self[index] == "(" { depth += 1 }
            if self[index] == ")" { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }
}
