import Foundation
import Testing

@testable import ModelMacro

@Suite("What @CoreModel writes")
struct ExpansionTests {
    private func expansion(of source: String, named name: String = "Person") -> CoreModelExpansion {
        CoreModelExpansion(
            of: DeclarationParser.declaration(in: source), named: name, conformances: ["CoreModel"])
    }

    /// What keeps a model from the main actor, in modules where all else is on it; the words are those of Swift 6.2.
    #if compiler(>=6.2)
        private let isolation = "nonisolated "
    #else
        private let isolation = ""
    #endif

    /// What tells the modules' names from those of types; the words are those of Swift 6.3.
    #if compiler(>=6.3)
        private let pippin = "Pippin::"
        private let swift = "Swift::"
    #else
        private let pippin = "Pippin."
        private let swift = "Swift."
    #endif

    @Test("is coding, a reader and a writer")
    func whole() {
        #expect(
            expansion(of: "public struct Person { let id: Int; private var name: String? }")
                .source
                    == """
                    \(isolation)extension Person: \(isolation)\(pippin)CoreModel {
                        private enum CodingKeys: \(swift)String, \(swift)CodingKey {
                            case `id`
                            case `name`
                        }

                        public init(from decoder: any \(swift)Decoder) throws {
                            let container = try decoder.container(keyedBy: CodingKeys.self)
                            self.`id` = try \(pippin)ModelCoding.value(of: .`id`, in: container)
                            self.`name` = try \(pippin)ModelCoding.value(of: .`name`, in: container)
                        }

                        public func encode(to encoder: any \(swift)Encoder) throws {
                            var container = encoder.container(keyedBy: CodingKeys.self)
                            try \(pippin)ModelCoding.encode(self.`id`, as: .`id`, in: &container)
                            try \(pippin)ModelCoding.encode(self.`name`, as: .`name`, in: &container)
                        }

                        private init(columns: borrowing \(pippin)ColumnReader) throws {
                            let value0: Int = try columns.value(at: 0)
                            let value1: String? = try columns.value(at: 1)
                            self.`id` = value0
                            self.`name` = value1
                        }

                        private func write(columns: borrowing \(pippin)ColumnWriter) throws {
                            try columns.set(self.`id`, at: 0)
                            try columns.set(self.`name`, at: 1)
                        }

                        public static var compiledColumns: \(pippin)ModelColumns? {
                            \(pippin)ModelColumns(
                                ["id", "name"],
                                read: { columns in try Self(columns: columns) },
                                write: { (model: borrowing Self, columns) in try model.write(columns: columns) })
                        }
                    }
                    """)
    }

    @Test("asks a property for its type where the compiler finds it out")
    func untyped() {
        let source = expansion(of: "struct Person { let id: Int; var age = 1 }").source
        #expect(
            source.contains(
                """
                        let value0: Int = try columns.value(at: 0)
                        let type1 = \(pippin)ModelCoding.type(of: { (model: Self) in model.`age` })
                        let value1 = try \(pippin)ModelCoding.value(columns.value(at: 1), as: type1)
                        self.`id` = value0
                        self.`age` = value1
                    }
                """))
    }

    @Test("names the observed properties, also of a model with coding of its own, if they are there for certain")
    func observed() {
        let member = "var age = 1 { didSet { } }"
        let source = expansion(of: "struct Person { let id: Int; \(member) }").source
        #expect(source.contains("observedProperties: [\(swift)AnyKeyPath: \(swift)String]"))
        #expect(source.contains("\\Self.`age`: \"age\","))
        #expect(!source.contains("\\Self.`id`"))
        let coded = expansion(
            of: "struct Person { let id: Int; enum CodingKeys: String, CodingKey { case age }; \(member) }"
        ).source
        #expect(coded.contains("\\Self.`age`: \"age\",") && !coded.contains("compiledColumns"))
        for other in ["#if DEBUG\n\(member)\n#endif", "lazy \(member)", "var age = { 1 }()"] {
            #expect(!expansion(of: "struct Person { let id: Int; \(other) }").source.contains("observedProperties"))
        }
    }

    @Test("names a wrapped property by the name that it is stored under")
    func wrapped() {
        let source = expansion(of: "struct Person { let id: Int; @Clamped var level = 1 }").source
        #expect(source.contains("\\Self.`level`: \"_level\","))
        #expect(!source.contains("initialValues"))
    }

    @Test(
        "gives the initial value to what is decoded without the property, and to stored objects without it",
        arguments: [
            ("3", "Int"), ("\"none\"", "String"), ("-1.5", "Double"), ("[]", "[Int]"), (".new", "Mood"),
            ("Mood.new", "Mood"),
            ("Date()", "Date"), ("Size(width: 1, height: 2)", "Size"), ("true", "Bool"),
        ])
    func initialValues(value: String, type: String) {
        let source = expansion(of: "struct Person { let id: Int; var x: \(type) = \(value) }").source
        #expect(
            source.contains(
                "self.`x` = try \(pippin)ModelCoding.value(of: .`x`, in: container, initially: { \(value) })"))
        #expect(
            source.contains("\"x\": \(pippin)ModelCoding.initial(of: \\Self.`x`) { \(value) },"))
    }

    @Test(
        "repeats no initial value that may mean something else in an extension, or another one each time",
        arguments: [
            "UUID()", "make()", "\"\\(1)\"", "{ 3 }()", "count + 1", "Self.first + [1]", "try! f()", "a ? 1 : 2",
        ])
    func otherValues(value: String) {
        let source = expansion(of: "struct Person { let id: Int; var x: Int = \(value) }").source
        #expect(!source.contains("initial"), "\(source)")
    }

    @Test("repeats literals alone in a nested type, and no value for an identifier or for nil")
    func fewerValues() {
        let source = expansion(
            of: "struct Person { var id = 1; var a: Mood = Mood.new; var b = 3; var c: Int? = nil }", named: "V1.Person"
        ).source
        #expect(source.contains("\"b\": ") && !source.contains("\"a\": ") && !source.contains("Mood"))
        #expect(!source.contains("\"id\": ") && !source.contains("\"c\": "))
    }

    @Test("refuses a function, a tuple and Any at their place", arguments: ["(Int) -> Void", "(Int, Int)", "Any"])
    func uncodable(type: String) {
        let source = "struct Person { let id: Int; var x: \(type) }"
        let expansion = expansion(of: source)
        #expect(expansion.problem?.hasPrefix("'x' is ") == true)
        #expect(expansion.place.map { Array(source.utf8)[$0] } == UInt8(ascii: "x"))
    }

    @Test("names an identifier that is not stored under that name")
    func computedIdentifier() {
        let source = expansion(of: "struct Person { let isbn: String; var id: String { isbn } }").source
        #expect(source.contains("\\Self.`id`: \"id\","))
        let other = DeclarationParser.declaration(in: "struct Person: Named { let isbn: String }")
        #expect(
            CoreModelExpansion(of: other, named: "Person", conformances: []).source.contains("\\Self.`id`: \"id\","))
    }

    @Test("refuses a model without an identifier, at its name")
    func noIdentifier() {
        let source = "struct Person { let isbn: String }"
        #expect(expansion(of: source).problem?.hasPrefix("'Person' has no identifier. Declare") == true)
        #expect(expansion(of: source).place == 7)
        #expect(expansion(of: "struct Person { let uid: Int }").problem == nil)
    }

    @Test("lets the compiler tell which types have raw values")
    func rawValues() {
        let source = expansion(
            of: "struct Person { let id: Int; var mood: Mood?; var home: Places.Town; var all: [Mood] }"
        )
        .source
        #expect(
            source.contains(
                """
                        let value1: Mood? = try columns.value(at: 1, Mood.init(from:), else: columns.value(at: 1))
                        let value2: Places.Town = try columns.value(at: 2, Places.Town.init(from:), else: columns.value(at: 2))
                        let value3: [Mood] = try columns.value(at: 3)
                """))
        #expect(
            source.contains(
                """
                        try columns.set(self.`mood`, at: 1, Mood.encode(to:), else: columns.set(self.`mood`, at: 1))
                """))
    }

    @Test("names no types in a nested type, whose extension does not see those beside it")
    func nested() {
        let source = expansion(of: "struct Person { let id: Int; var mood: Mood? }", named: "V1.Person").source
        #expect(
            source.contains(
                """
                        let type0 = \(pippin)ModelCoding.type(of: { (model: Self) in model.`id` })
                        let value0 = try \(pippin)ModelCoding.value(columns.value(at: 0), as: type0)
                        let type1 = \(pippin)ModelCoding.type(of: { (model: Self) in model.`mood` })
                        let value1 = try \(pippin)ModelCoding.value(columns.value(at: 1), as: type1)
                """))
        #expect(!source.contains("Mood"))
    }

    @Test("is the conformance alone where coding is by hand")
    func byHand() {
        #expect(
            expansion(of: "struct Person { let id: Int; enum CodingKeys: CodingKey { case id } }").source
                == "\(isolation)extension Person: \(isolation)\(pippin)CoreModel {}")
    }

    @Test("can be seen as widely as the model, which may have its access from the extension that it is in")
    func access() {
        let source = expansion(of: "struct Person { let id: Int }", named: "V1.Person").source
        #expect(source.contains("    public init(from decoder: any \(swift)Decoder)"))
        #expect(source.contains("    public func encode(to encoder: any \(swift)Encoder)"))
        #expect(source.contains("    public static var compiledColumns"))
    }

    @Test("leaves out a conformance that is there")
    func conforming() {
        let declaration = DeclarationParser.declaration(in: "struct Person: CoreModel { init(from: Int) { } }")
        #expect(CoreModelExpansion(of: declaration, named: "Person", conformances: []).source == "")
    }

    @Test("names observed properties where only the conformance is there")
    func observedOfConforming() {
        let declaration = DeclarationParser.declaration(
            in: "struct Person: CoreModel { init(from: Int) { }; var age = 1 { didSet { } } }")
        let source = CoreModelExpansion(of: declaration, named: "Person", conformances: []).source
        #expect(source.hasPrefix("\(isolation)extension Person {") && source.contains("\\Self.`age`: \"age\","))
    }

    @Test("names a deprecated property in deprecated members, which the compiler does not warn of")
    func deprecated() {
        let member = "@available(*, deprecated) var old = 1 { didSet { } }"
        let source = expansion(of: "struct Person { let id: Int; \(member) }").source
        let uses = [
            "public init(from", "public func encode", "private init(columns", "private func write",
            "public static var compiledColumns", "public static var observedProperties",
        ]
        for use in uses { #expect(source.contains("    @available(*, deprecated)\n    \(use)")) }
        #expect(!expansion(of: "struct Person { let id: Int }").source.contains("@available"))
    }

    @Test("writes the quotation marks of a name in backticks")
    func quotes() {
        let source = expansion(of: "struct Person { let id: Int; var `a \"b\"` = 1 { didSet { } } }").source
        #expect(source.contains(#"["id", "a \"b\""]"#))
        #expect(source.contains(#"\Self.`a "b"`: "a \"b\"","#))
    }

    @Test("is an error for what can be no model")
    func refused() {
        #expect(
            expansion(of: "enum Person { case a }").problem
                == "A model is a struct or a final class: @CoreModel cannot make one of this enum.")
    }

    private func answer(_ json: String) throws -> CompilerAnswer {
        try JSONDecoder().decode(CompilerMessage.self, from: Data(json.utf8)).answer(CoreModelExpansion.expand)
    }

    @Test("goes to the compiler as an answer to its message")
    func message() throws {
        #expect(
            try answer(#"{"getCapability":{"capability":{"protocolVersion":7}}}"#)
                == CompilerAnswer(getCapabilityResult: .init()))
        let asked = #"""
            {"expandAttachedMacro":{"macro":{"name":"CoreModel"},"declSyntax":{"source":"enum A { }"},
            "attributeSyntax":{"source":"\n// é\n@CoreModel","location":{"fileName":"a.swift","offset":10}},
            "extendedTypeSyntax":{"source":" A "},
            "conformanceListSyntax":{"source":"struct Placeholder: CoreModel {}"}}}
            """#
        let result = try #require(try answer(asked).expandMacroResult)
        #expect(result.diagnostics.map(\.position) == [.init(fileName: "a.swift", offset: 17)])
        #expect(result.diagnostics.map(\.severity) == ["error"])
    }
}
