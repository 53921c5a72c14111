extension CoreModelExpansion {
    /// The answer of the macro.
    package static func expand(_ attached: CompilerMessage.Attached) -> MacroExpansion {
        let declaration = DeclarationParser.declaration(in: attached.declSyntax.source)
        let expansion = CoreModelExpansion(
            of: declaration, named: attached.typeName(or: declaration.name), conformances: attached.conformances)
        var answer = MacroExpansion(source: expansion.source, problems: expansion.problem.map { [$0] } ?? [])
        answer.places = expansion.place.map { [$0] } ?? []
        return answer
    }
}

/// The expansion of `@CoreModel` for a declaration.
package struct CoreModelExpansion: Equatable, Sendable {
    /// The extensions to add.
    package var source = ""
    /// The compiler's error message; nil if there is none.
    package var problem: String?
    /// The offset in the declaration at which the message is shown; nil for the attribute's.
    package var place: Int?
    /// What stands before each member that names a deprecated property: a deprecated member may, without a warning.
    private var availability = ""

    /// - Parameters:
    ///   - declaration: the type.
    ///   - type: its name, with the types that it is in.
    ///   - conformances: the protocols that it does not conform to yet.
    package init(of declaration: ModelDeclaration, named type: String, conformances: [String]) {
        if case .other(let keyword) = declaration.kind {
            problem = "A model is a struct or a final class: @CoreModel cannot make one of this \(keyword)."
            return
        }
        // What conforms by another protocol may have its identifier from there.
        if !declaration.hasIdentifier, declaration.reason != .condition, conformances.contains("CoreModel") {
            problem =
                "'\(declaration.name)' has no identifier. Declare what tells two of them apart: let id: UUID, or a "
                + "computed one, var id: String { name }."
            place = declaration.offset
            return
        }
        if let property = declaration.properties.first(where: { $0.uncodable != nil }), let type = property.uncodable,
            declaration.reason == nil
        {
            problem =
                "'\(property.name)' is \(type), which no store can keep: a model's properties are Codable. Make it a "
                + "computed property, or one of another type."
            place = property.offset
            return
        }
        // A property that is there only on a condition cannot be named.
        let isCertain = declaration.reason != .condition
        var observed = declaration.properties.filter { $0.isObserved && isCertain }.map { ($0.name, $0.name) }
        // A wrapper is stored under its property's name with an underscore.
        observed += declaration.properties.filter { $0.isWrapped && isCertain }.map { ($0.name, "_" + $0.name) }
        // An identifier that is computed, by the model or by the protocol.
        let stored = declaration.properties.map(\.name)
        if isCertain, !stored.isEmpty, !stored.contains("id") { observed.append(("id", "id")) }
        let isConforming = !conformances.contains("CoreModel")
        let conformance = isConforming ? "" : ": \(Self.isolation)\(Self.pippin)CoreModel"
        let head = "\(Self.isolation)extension \(type)\(conformance) {"
        availability = declaration.hasDeprecatedProperties ? "@available(*, deprecated)\n    " : ""
        guard declaration.reason == nil, !declaration.properties.isEmpty else {
            let members = self.observed(observed) + (isCertain ? initialValues(declaration.properties, of: type) : "")
            if !isConforming || !members.isEmpty { source = "\(head)\(members)}" }
            return
        }
        source = """
            \(head)
            \(coding(declaration.properties, isNested: type.contains(".")))
            \(reader(declaration.properties, isNested: type.contains(".")))
            \(columns(declaration.properties, isNested: type.contains(".")))\(self.observed(observed))\(initialValues(declaration.properties, of: type))
            }
            """
    }

    /// Models belong to no actor, also in a module whose declarations belong to the main one.
    private static let isolation = ModuleNames.isolation
    private static let (pippin, swift) = (ModuleNames.pippin, ModuleNames.swift)

    /// `Codable` as the compiler would synthesize it, written out so that the compiler reports a conflict with coding
    /// that is declared elsewhere, which columns would bypass.
    ///
    /// The members are public, since the type may get its access from an enclosing extension that the macro does not
    /// see.
    ///
    /// What has no value in a decoder gets the property's initial value, if the extension sees what it names.
    private func coding(_ all: [ModelDeclaration.Property], isNested: Bool) -> String {
        let coding = "\(Self.pippin)ModelCoding"
        let properties = all.map(\.name)
        let values = all.map { property in
            let initial = property.initial(isNested: isNested).map { ", initially: { \($0) }" } ?? ""
            return
                "        self.`\(property.name)` = try \(coding).value(of: .`\(property.name)`, in: container\(initial))"
        }
        return """
                private enum CodingKeys: \(Self.swift)String, \(Self.swift)CodingKey {
            \(lines(properties) { "        case `\($0)`" })
                }

                \(availability)public init(from decoder: any \(Self.swift)Decoder) throws {
                    let container = try decoder.container(keyedBy: CodingKeys.self)
            \(values.joined(separator: "\n"))
                }

                \(availability)public func encode(to encoder: any \(Self.swift)Encoder) throws {
                    var container = encoder.container(keyedBy: CodingKeys.self)
            \(lines(properties) { "        try \(coding).encode(self.`\($0)`, as: .`\($0)`, in: &container)" })
                }

            """
    }

    /// All values are read before the first property is set: otherwise the compiler would copy the whole struct for a
    /// value that throws in between.
    ///
    /// The initializer `init(from:)` of a type that may have a raw value tells the compiler whether that value is
    /// read: see `RawCoding`.
    ///
    /// An extension of a nested type does not see the types that are declared beside it, so there a value gets its
    /// property's type without naming it, as it does where the declaration leaves its type to the compiler.
    private func reader(_ properties: [ModelDeclaration.Property], isNested: Bool) -> String {
        let coding = "\(Self.pippin)ModelCoding"
        let values = properties.enumerated().map { place, property in
            guard let type = property.type, !isNested else {
                return """
                            let type\(place) = \(coding).type(of: { (model: Self) in model.`\(property.name)` })
                            let value\(place) = try \(coding).value(columns.value(at: \(place)), as: type\(place))
                    """
            }
            guard let raw = property.possiblyRaw else {
                return "        let value\(place): \(type) = try columns.value(at: \(place))"
            }
            return """
                        let value\(place): \(type) = try columns.value(at: \(place), \(raw).init(from:), else: columns.value(at: \(place)))
                """
        }
        let assignments = properties.enumerated().map { "        self.`\($1.name)` = value\($0)" }
        return """
                \(availability)private init(columns: borrowing \(Self.pippin)ColumnReader) throws {
            \((values + assignments).joined(separator: "\n"))
                }

            """
    }

    private func columns(_ all: [ModelDeclaration.Property], isNested: Bool) -> String {
        let properties = all.map(\.name)
        let written = all.enumerated().map { place, property in
            let plain = "columns.set(self.`\(property.name)`, at: \(place))"
            guard !isNested, let raw = property.possiblyRaw else { return "        try \(plain)" }
            return "        try columns.set(self.`\(property.name)`, at: \(place), \(raw).encode(to:), else: \(plain))"
        }
        return """
                \(availability)private func write(columns: borrowing \(Self.pippin)ColumnWriter) throws {
            \(written.joined(separator: "\n"))
                }

                \(availability)public static var compiledColumns: \(Self.pippin)ModelColumns? {
                    \(Self.pippin)ModelColumns(
                        [\(properties.map(Self.literal).joined(separator: ", "))],
                        read: { columns in try Self(columns: columns) },
                        write: { (model: borrowing Self, columns) in try model.write(columns: columns) })
                }
            """
    }

    /// The initial values of properties, for objects that a store has without them. An identifier has none in common
    /// with others.
    private func initialValues(_ properties: [ModelDeclaration.Property], of type: String) -> String {
        let values = properties.compactMap { property -> String? in
            guard !["id", "uid"].contains(property.name), let value = property.initial(isNested: type.contains(".")),
                value != "nil"
            else { return nil }
            let name = Self.literal(property.name)
            return "            \(name): \(Self.pippin)ModelCoding.initial(of: \\Self.`\(property.name)`) { \(value) },"
        }
        guard !values.isEmpty else { return "" }
        return """


                \(availability)public static var initialValues: [\(Self.swift)String: any \(Self.swift)Encodable & \(Self.swift)Sendable] {
                    [
            \(values.joined(separator: "\n"))
                    ]
                }

            """
    }

    /// Nothing for a model without such properties.
    private func observed(_ properties: [(name: String, stored: String)]) -> String {
        guard !properties.isEmpty else { return "" }
        return """


                \(availability)public static var observedProperties: [\(Self.swift)AnyKeyPath: \(Self.swift)String] {
                    [
            \(lines(properties) { "            \\Self.`\($0.name)`: \(Self.literal($0.stored))," })
                    ]
                }

            """
    }

    /// A name as a literal: one in backticks may have quotation marks.
    private static func literal(_ name: String) -> String {
        "\"\(name.replacing("\"", with: "\\\""))\""
    }

    private func lines<Element>(_ elements: [Element], _ line: (Element) -> String) -> String {
        elements.map(line).joined(separator: "\n")
    }
}

/// Finds what a macro must know of a type in its source.
package struct DeclarationParser {
    private var cursor: TokenCursor
    private var declaration = ModelDeclaration(kind: .other(""), name: "")

    /// - Parameter source: the declaration, with its attributes and comments.
    /// - Returns: what of it matters; an empty name where there is no declaration.
    package static func declaration(in source: String) -> ModelDeclaration {
        var parser = DeclarationParser(cursor: TokenCursor(source))
        parser.parse()
        return parser.declaration
    }

    private init(cursor: TokenCursor) { self.cursor = cursor }

    private mutating func parse() {
        let modifiers = cursor.takeHead()
        let keyword = cursor.next?.text ?? ""
        switch keyword {
        case "struct": declaration.kind = .structure
        case "class":
            declaration.kind = modifiers.contains("final") ? .finalClass : .other("class that is not final")
            declaration.reason = .isClass
        default: declaration.kind = .other(keyword)
        }
        cursor.advance()
        declaration.name = cursor.next?.name ?? ""
        declaration.offset = cursor.next?.offset ?? 0
        while let token = cursor.next, !token.isSign("{") { cursor.advance() }
        cursor.advance()
        while let token = cursor.next, !token.isSign("}") { parseMember() }
    }

    private mutating func parseMember() {
        let (modifiers, written) = cursor.takeModifiers()
        let attributes = written.map(\.name)
        guard let token = cursor.next, !token.isSign("}") else { return }
        if token.isSign("#") { return skipCondition() }
        let keyword = token.name ?? ""
        cursor.advance()
        switch keyword {
        case "var", "let":
            if modifiers.contains("static") || modifiers.contains("class") { return cursor.skipMember() }
            let isPlain = !modifiers.contains("lazy") && attributes.allSatisfy(Keywords.plainAttributes.contains)
            let first = declaration.properties.count
            parseProperties(
                isConstant: keyword == "let", isPlain: isPlain, isWrapped: !isPlain && !modifiers.contains("lazy"))
            if attributes.contains("deprecated"), declaration.properties.count > first {
                declaration.hasDeprecatedProperties = true
            }
        case "init":
            if cursor.next?.isSign("(") == true, cursor.after(1)?.name == "from" { codedByHand("init(from:)") }
            cursor.skipMember()
        case "func":
            if cursor.next?.name == "encode", cursor.after(2)?.name == "to" { codedByHand("encode(to:)") }
            cursor.skipMember()
        case "enum", "struct", "typealias":
            if cursor.next?.name == "CodingKeys" { codedByHand("CodingKeys") }
            cursor.skipMember()
        default: cursor.skipMember()
        }
    }

    private mutating func codedByHand(_ what: String) {
        declaration.reason = declaration.reason ?? .codedByHand(what)
    }

    /// Conditions, and the macros that are used like declarations.
    ///
    /// It is the reason that counts: nothing is known for certain of properties behind a condition.
    private mutating func skipCondition() {
        declaration.reason = .condition
        cursor.advance()
        cursor.skipMember()
    }

    // MARK: Properties

    /// The properties of one `var` or `let`.
    private mutating func parseProperties(isConstant: Bool, isPlain: Bool, isWrapped: Bool) {
        while true {
            let offset = cursor.next?.offset ?? 0
            guard let name = cursor.next?.name else {
                // A pattern: `let (a, b) = …`.
                declaration.reason = declaration.reason ?? .property("(")
                return cursor.skipMember()
            }
            cursor.advance()
            if name == "id" || name == "uid" { declaration.hasIdentifier = true }
            let form = cursor.takeProperty()
            if !form.isComputed {
                declaration.properties.append(
                    ModelDeclaration.Property(
                        name: name, type: form.type, isObserved: form.isObserved && isPlain, isWrapped: isWrapped,
                        value: isPlain && !isConstant
                            ? form.value.map { ModelDeclaration.InitialValue(source: $0) } : nil,
                        offset: offset))
                if !isPlain || isConstant && form.hasValue {
                    declaration.reason = declaration.reason ?? .property(name)
                }
            }
            guard form.isFollowed else { return }
        }
    }
}
