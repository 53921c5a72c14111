import Foundation
import Testing

@testable import CodeGeneration

@Suite("The module of a class that a model names")
struct ClassFinderTests {
    private func name(of className: String, in source: String, dependency: String = "") throws -> String {
        let folder = try TemporaryFolder()
        let library = folder.url.appendingPathComponent("Library")
        try FileManager.default.createDirectory(at: library, withIntermediateDirectories: true)
        _ = try folder.write("Library/Source.swift", dependency)
        let target = TargetSources(
            moduleName: "App", paths: [try folder.write("Source.swift", source)],
            dependencies: ["Library": library.path])
        return ClassFinder(target: target, generatedClasses: []).qualifiedName(of: className)
    }

    @Test("is the one that declares the class at the top of a file")
    func found() throws {
        #expect(try name(of: "Book", in: "@objc(Book)\npublic  class Book: NSManagedObject {}") == "App.Book")
        #expect(try name(of: "Book", in: "enum A { struct B {} }\n#if DEBUG\nclass Book {}\n#endif") == "App.Book")
        #expect(try name(of: "Book", in: "let a = 1", dependency: "open class Book {}") == "Library.Book")
    }

    @Test("is none for a comment, a text, and a class in another type, whose name is longer")
    func others() throws {
        #expect(try name(of: "Book", in: "// the class Book\nlet a = \"class Book\"") == "Book")
        #expect(try name(of: "Book", in: "enum Former {\n    class Book: NSManagedObject {}\n}") == "Book")
        let nested = "extension Former { class Book {} }"
        #expect(try name(of: "Book", in: nested, dependency: "public class Book {}") == "Library.Book")
    }
}
