import Testing

@testable import ModelMacro

@Suite("The declaration of a model")
struct DeclarationTests {
    private func properties(_ members: String) -> [String] {
        let declaration = DeclarationParser.declaration(in: "struct Model {\n\(members)\n}")
        #expect(declaration.reason == nil)
        return declaration.properties.map(\.name)
    }

    private func reason(_ members: String) -> ModelDeclaration.CodingReason? {
        DeclarationParser.declaration(in: "struct Model {\n\(members)\n}").reason
    }

    @Test("has a kind and a name, after comments and attributes")
    func head() {
        let declaration = DeclarationParser.declaration(
            in: """
                /// A model: struct Wrong { var x: Int }
                /* nested /* comments */ class */
                @CoreModel @available(macOS 14, *)
                public struct Model<Value: Codable & Sendable>: Equatable where Value: Hashable { let id: Int }
                """)
        #expect(declaration.kind == .structure && declaration.name == "Model" && declaration.reason == nil)
        #expect(declaration.properties.map(\.name) == ["id"] && declaration.properties.map(\.type) == ["Int"])
    }

    @Test("may have conditions of compilation around its attributes")
    func conditions() {
        let source = """
            #if !PLAIN
                @CoreModel
            #elseif os(Linux)
                @Wrong final
            #endif
            struct Model { let id: Int }
            """
        let declaration = DeclarationParser.declaration(in: source)
        #expect(declaration.kind == .structure && declaration.name == "Model" && declaration.reason == nil)
        #expect(declaration.properties.map(\.name) == ["id"])
        let model = ClassDeclaration(source.replacing("struct", with: "final class"))
        #expect(model.keyword == "class" && model.name == "Model" && model.isFinal)
    }

    @Test("has stored properties in their order, whatever their access")
    func order() {
        #expect(
            properties(
                """
                let id: Int; var name: String
                private var note: String?
                public private(set) var count = 0
                @available(*, deprecated) var old: Date
                """) == ["id", "name", "note", "count", "old"])
    }

    @Test("has several properties to a keyword")
    func several() {
        #expect(properties("var a, b: Int, c: [String: Int] = [:], d = (1, 2)") == ["a", "b", "c", "d"])
    }

    @Test("has types with commas in them")
    func commas() {
        #expect(
            properties("var a: Dictionary<String, Int>\nvar b = Dictionary<String, Int>(), c: (Int, Int) -> Bool")
                == ["a", "b", "c"])
    }

    @Test("has types as they are written, where they are")
    func types() {
        let declaration = DeclarationParser.declaration(
            in: """
                struct Model {
                    let id: Int // comment
                    var map: [String: Array<(Int, Int?)>] = [:], name: String?
                    var plain = 1
                    var last: Dictionary<String, Int> { didSet { } }
                    var call: @Sendable (Int, Int) -> Void
                    var wide
                        : any Equatable & Sendable
                }
                """)
        #expect(
            declaration.properties.map(\.type) == [
                "Int", "[String: Array<(Int, Int?)>]", "String?", nil, "Dictionary<String, Int>",
                "@Sendable (Int, Int) -> Void", "any Equatable & Sendable",
            ])
    }

    @Test("has types of which the compiler finds out a part, and that are not written elsewhere")
    func openTypes() {
        let declaration = DeclarationParser.declaration(
            in: "struct Model { var a: some Codable & Sendable = 1; var b: Set<_> = [1]; var c: _some = 1 }")
        #expect(declaration.properties.map(\.type) == [nil, nil, "_some"])
    }

    @Test("has deprecated properties where a stored one says so")
    func deprecated() {
        func isDeprecated(_ member: String) -> Bool {
            DeclarationParser.declaration(in: "struct Model { let id: Int; \(member) }").hasDeprecatedProperties
        }
        #expect(isDeprecated("@available(*, deprecated, message: \")\") public var old: Int"))
        #expect(!isDeprecated("@available(macOS 14, *) var old: Int"))
        #expect(!isDeprecated("@available(*, deprecated) var old: Int { 1 }"))
        #expect(properties("@available(*, deprecated) var old = 1") == ["old"])
    }

    @Test("has computed properties, which are not stored, and observed ones, which are")
    func accessors() {
        #expect(
            properties(
                """
                var a: Int { 1 }
                var b: Int
                {
                    get { 1 }
                    set { }
                }
                var c: Int = 1 { didSet { print(c) } }
                var d: Int { willSet { } }
                var e = { 5 }()
                static var f = 1
                static let g = "}"
                """) == ["c", "d", "e"])
    }

    @Test("has functions, types and initializers among its properties")
    func members() {
        #expect(
            properties(
                """
                init(id: Int) { self.id = id; var local = 1 }
                let id: Int
                func encode(_ value: Int, to other: Int) { let hidden = 1 }
                struct Inner { var inner: Int }
                enum Kind: String { case a, b }
                subscript(place: Int) -> Int { let x = place; return x }
                var last: Int
                """) == ["id", "last"])
    }

    @Test("has strings with brackets, quotation marks and code in them")
    func strings() {
        #expect(
            properties(
                #"""
                var a = "} \(b("}")) \" {"
                var b = """
                    } var x: Int "
                    """
                var c = #"\" } \#("}") "#
                var d = ""
                var e = "\\"
                """#) == ["a", "b", "c", "d", "e"])
    }

    @Test("has strings with quotation marks at their ends")
    func quotes() {
        #expect(
            properties(
                ###"""
                static let a = #""a"#
                var b = #""""#
                var c = #"""#
                var d = ##"""#"##
                var e = #"""
                    "a" } "
                    """#
                var f = #""#
                var g = ""
                """###) == ["b", "c", "d", "e", "f", "g"])
    }

    @Test("has regular expressions with brackets and quotation marks in them, and divisions")
    func regularExpressions() {
        #expect(
            properties(
                ##"""
                var isOpen: Bool { title.contains(/\(/) && !/{"/.isEmpty }
                static let one = #/[/*"}]/#, other = #/
                    [}"]  # a comment
                    /#
                var a = 4 / 2, b = [1, 2].reduce(4, /)
                var c = (a)/b
                var d: Bool { return /[{]\/}"/ ~= title }
                var e: Regex<Substring> = /}/, f = 1
                """##) == ["a", "b", "c", "e", "f"])
    }

    @Test("has operators as arguments, which are not regular expressions")
    func operators() {
        #expect(
            properties(
                """
                static let p = 1
                var a = [8, 2].reduce(64, /), b = 9 / 3
                var c = apply(/, 2), d = f([/]), e = 4 / 2
                var h = s.contains(/[)(]\\)(x)/), i = 1
                """) == ["a", "b", "c", "d", "e", "h", "i"])
    }

    @Test("has values with generic types in them, and comparisons")
    func generic() {
        #expect(
            properties(
                """
                var a = Triple<Int, Int, String>()
                var b = Box<[String: Int], (Int, Int)>.empty, c = 1
                var d = one<two, e = three
                var f = one < two, g = three > two
                var h = Pair<Int, Pair<Int, Int>>(1)
                """) == ["a", "b", "c", "d", "e", "f", "g", "h"])
    }

    @Test("has names in backticks and of any script")
    func names() {
        #expect(properties("var `default`: Int\nvar größe: Int\nvar 名前: String") == ["default", "größe", "名前"])
    }

    @Test("has values over several lines")
    func lines() {
        #expect(
            properties("var a =\n    [1, 2]\n    .map { $0 }\nvar b:\n    Int\nvar c\n    : Int") == ["a", "b", "c"])
        #expect(
            properties("static let few =\n #Predicate<Model> { $0.a < 3 }\nvar a =\n #line\nvar b =\n prefix + 1")
                == ["a", "b"])
    }

    @Test("is coded by hand where it says so")
    func byHand() {
        #expect(reason("init(from decoder: Decoder) throws { }") == .codedByHand("init(from:)"))
        #expect(reason("func encode(to encoder: any Encoder) throws { }") == .codedByHand("encode(to:)"))
        #expect(reason("private enum CodingKeys: String, CodingKey { case id }") == .codedByHand("CodingKeys"))
        #expect(reason("init(from other: Int) { }") == .codedByHand("init(from:)"))
    }

    @Test("is left to coding where properties are not plain")
    func notPlain() {
        #expect(reason("lazy var a = 1") == .property("a"))
        #expect(reason("let a = 1") == .property("a"))
        #expect(reason("let a: Int = 1") == .property("a"))
        #expect(reason("@Clamped var a: Int") == .property("a"))
        #expect(reason("let (a, b) = (1, 2)") == .property("("))
        #expect(reason("#if DEBUG\nvar a: Int\n#endif") == .condition)
    }

    @Test("is a struct or a final class")
    func kinds() {
        #expect(DeclarationParser.declaration(in: "final class Model { let id: Int }").kind == .finalClass)
        #expect(DeclarationParser.declaration(in: "class Model { }").kind == .other("class that is not final"))
        #expect(DeclarationParser.declaration(in: "enum Model { }").kind == .other("enum"))
    }

    @Test("may be cut off anywhere, without an end to wait for")
    func cutOff() {
        let source =
            #"@A(b: "c") public struct M<T>: P { let id: Int = { 1 }(); var s = "\(x)" /* y */ var q: [Int: A<B>] }"#
        for length in 0...source.count { _ = DeclarationParser.declaration(in: String(source.prefix(length))) }
    }
}
