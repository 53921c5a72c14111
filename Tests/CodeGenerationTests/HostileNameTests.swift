import Foundation
import TestSupport
import Testing

@testable import CodeGeneration

@Suite("Names of a model that are not names in Swift")
struct HostileNameTests {
    static let hostile = [
        "x: Int { 1 }; public let pwned = system(\"id\")", "a b", "1st", "", "_", "a`b", "`a`", "a\"", "a\\", "a\nb",
        "a\u{2028}b",
        "a*/b", "/*", "//", "a;b", "a{", "}", "$0", "a.b c", "a-b", "a\u{202E}b", "a\u{200B}b", "\u{200D}a", "a\u{0}b",
        "#if", "@main", "\\(a)",
    ]

    private func entity(_ className: String = "Book", _ property: String = "title") -> RecordEntity {
        var entity = RecordEntity(name: "Book", className: className, codeGeneration: .class)
        entity.attributes = [RecordAttribute(name: property, type: .string)]
        return entity
    }

    private func source(_ entities: RecordEntity...) throws -> String {
        try RecordClassWriter(model: RecordModel(entities: entities)).source(file: "Shop.xcdatamodeld")
    }

    @Test("are refused where they are not identifiers", arguments: hostile)
    func identifiers(_ name: String) {
        #expect(!SwiftIdentifier.isIdentifier(name))
        #expect(!SwiftIdentifier.isPath(name))
    }

    @Test("are errors that name their place, as a class", arguments: hostile)
    func classes(_ name: String) throws {
        let failure = #expect(throws: GenerationFailure.self) { try source(entity(name)) }
        let problem = try #require(failure?.problems.first)
        #expect(problem.file == "Shop.xcdatamodeld")
        #expect(problem.message.hasPrefix("entity “Book”: its class "))
        #expect(!problem.message.contains("\n"))
    }

    @Test("are errors that name their place, as an attribute", arguments: hostile)
    func attributes(_ name: String) throws {
        let failure = #expect(throws: GenerationFailure.self) { try source(entity("Book", name)) }
        let message = try #require(failure?.problems.first?.message)
        #expect(message.hasPrefix("entity “Book”, property “\(name.escaped)”: its name is not an identifier"))
    }

    @Test(
        "are errors as relationships, fetched properties, parents, destinations and custom classes", arguments: hostile)
    func others(_ name: String) throws {
        var related = entity()
        related.relationships = [RecordRelationship(name: name, destination: "Book", isToMany: true)]
        #expect(throws: GenerationFailure.self) { try source(related) }
        var fetching = entity()
        fetching.fetchedProperties = [RecordFetchedProperty(name: name, destination: nil)]
        #expect(throws: GenerationFailure.self) { try source(fetching) }
        let stranger = RecordEntity(name: "Other", className: name, codeGeneration: .none)
        var child = entity()
        child.parent = "Other"
        #expect(throws: GenerationFailure.self) { try source(child, stranger) }
        var leading = entity()
        leading.relationships = [RecordRelationship(name: "other", destination: "Other")]
        #expect(throws: GenerationFailure.self) { try source(leading, stranger) }
        var custom = entity()
        custom.attributes = [RecordAttribute(name: "shape", type: .transformable, customClass: name)]
        #expect(throws: GenerationFailure.self) { try source(custom) }
    }

    @Test("are reported all at once")
    func all() {
        var book = entity("Book", "a b")
        book.attributes.append(RecordAttribute(name: "c d", type: .string))
        #expect(#expect(throws: GenerationFailure.self) { try source(book) }?.problems.count == 2)
    }

    @Test("do no harm as the name of an entity: that is a string and a comment")
    func entityNames() throws {
        let name = "Book\"); system(\"id\n*/ \\(x)\u{2028}"
        let source = try source(RecordEntity(name: name, className: "Book", codeGeneration: .class))
        let literal = #""Book\"); system(\"id\n*/ \\(x)\u{2028}""#
        #expect(source.contains("NSFetchRequest<Book>(entityName: \(literal))"))
        #expect(source.contains("// MARK: - \(literal.dropFirst().dropLast())\n"))
    }

    @Test(
        "Letters of all writings, and emoji, are fine",
        arguments: ["größe", "名前", "имя", "étagère", "👩‍💻", "e\u{301}", "_id", "a1"])
    func unicode(_ name: String) throws {
        #expect(try source(entity("Book", name)).contains("public var \(name): String?"))
    }

    @Test("Keywords get backticks, in every place")
    func keywords() throws {
        var entity = RecordEntity(name: "Class", className: "class", codeGeneration: .class)
        entity.attributes = ["default", "Type", "self", "repeat"].map { RecordAttribute(name: $0, type: .string) }
        entity.relationships = [RecordRelationship(name: "in", destination: "Class", isToMany: true)]
        let source = try source(entity)
        #expect(source.contains("public class `class`: NSManagedObject {"))
        #expect(source.contains("NSFetchRequest<`class`>"))
        #expect(source.contains("public var `default`: String?"))
        #expect(source.contains("public var `Type`: String?"))
        #expect(source.contains("static let _key_Type = ManagedPropertyKey(\"Type\")"))
        #expect(source.contains("public func addToIn(_ value: `class`)"))
    }

    @Test(
        "Custom classes are types of all kinds, written anew",
        arguments: [
            ("NSColor", "NSColor?"), ("[String]", "[String]?"), ("[ String :Int ]", "[String: Int]?"),
            ("Set<Shape.Kind>", "Set<Shape.Kind>?"), ("any Shape & Codable", "(any Shape & Codable)?"),
            ("(Shape)", "(Shape)?"),
            ("[String:[Int?]]", "[String: [Int?]]?"), ("Result<Int, any Error>", "Result<Int, any Error>?"),
            ("Any", "Any?"), ("any Shape?", "(any Shape)??"),
            ("[any Shape & Codable?]", "([(any Shape & Codable)?])?"),
            ("Shape & Codable", "(Shape & Codable)?"), ("any (Shape & Codable)", "(any (Shape & Codable))?"),
        ])
    func types(_ text: String, _ expected: String) throws {
        var book = entity()
        book.attributes = [RecordAttribute(name: "shape", type: .transformable, customClass: text)]
        #expect(try source(book).contains("public var shape: \(expected) {"))
    }

    @Test(
        "A text that is not a type is not read as one",
        arguments: [
            "[", "[]", "A<", "A<>", "A.", ".A", "A B", "A {}", "() -> Void", "@escaping A", "A;B", "(A, B)",
            "any any A", "Self", "[Self]", "A!", "[A!]", "A & any B", "A? & B", "A & B?", "any [A]", "[A] & B",
            "any any",
        ])
    func noTypes(_ text: String) { #expect(TypeExpression(text) == nil) }

    @Test("A type that nests deeper than any program's is not read", arguments: ["any ", "(", "[", "A<"])
    func deepTypes(_ part: String) {
        #expect(TypeExpression(String(repeating: part, count: 200_000) + "A") == nil)
    }

    @Test("The Swift compiler takes what is generated for every allowed name", .ownThread)
    func compiles() throws {
        let compiler = try #require(AccessorTests.compiler)
        let names = [
            "class", "default", "Type", "Protocol", "self", "Self", "init", "Any", "in", "each", "async", "größe", "名前",
            "👩‍💻", "e\u{301}",
            "_id", "open", "await", "true", "nil", "super", "get", "set", "x1",
        ]
        var book = RecordEntity(name: "Book\n\"", className: "Book", codeGeneration: .class)
        book.attributes = names.map { RecordAttribute(name: $0, type: .string) }
        let text = try source(book).replacing(
            "@_spi(GeneratedCode) import CoreData\nimport Foundation",
            with: """
                struct ManagedPropertyKey { init(_ name: String) {} }
                open class NSManagedObject {}
                extension NSManagedObject {
                    func managedValue(_ key: ManagedPropertyKey) -> String? { nil }
                    func setManagedValue(_ value: String?, _ key: ManagedPropertyKey) {}
                }
                public struct NSFetchRequest<Result> { init(entityName: String) {} }
                """
        ).replacing("@nonobjc ", with: "")
        let folder = try TestFolder()
        let file = folder.file("Records.swift")
        try text.write(to: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: compiler.executable)
        process.arguments = ["-frontend", "-typecheck", "-parse-as-library", file.path]
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(said)")
    }
}
