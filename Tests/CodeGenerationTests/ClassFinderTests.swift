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

    @Test("is not found for a comment, a text, and a class in another type, whose name is longer")
    func others() throws {
        #expect(try name(of: "Book", in: "// the class Book\nlet a = \"class Book\"") == "Book")
        #expect(try name(of: "Book", in: "enum Former {\n    class Book: NSManagedObject {}\n}") == "Book")
        let nested = "extension Former { class Book {} }"
        #expect(try name(of: "Book", in: nested, dependency: "public class Book {}") == "Library.Book")
    }

    @Test("is not found for the protocol beside `class` in what a protocol requires")
    func requirement() throws {
        #expect(try name(of: "Named", in: "protocol P: class, Named {}") == "Named")
        let library = "public class Named {}"
        #expect(try name(of: "Named", in: "protocol P: class, Named {}", dependency: library) == "Library.Named")
    }

    private func name(of className: String, in dependencies: [String: String]) throws -> String {
        let folder = try TemporaryFolder()
        var folders: [String: String] = [:]
        for (module, source) in dependencies {
            let place = folder.url.appendingPathComponent(module)
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            _ = try folder.write("\(module)/Source.swift", source)
            folders[module] = place.path
        }
        let target = TargetSources(moduleName: "App", paths: [], dependencies: folders)
        return ClassFinder(target: target, generatedClasses: []).qualifiedName(of: className)
    }

    @Test("is left out where another module keeps a class of the name to itself")
    func invisible() throws {
        for source in [
            "class Book {}", "internal final class Book: A {}", "package class Book {}", "public struct Book {}",
        ] {
            #expect(try name(of: "Book", in: ["Library": source]) == "Book")
        }
        #expect(try name(of: "Book", in: ["Library": "@objc(Book) public final class Book: A {}"]) == "Library.Book")
        #expect(try name(of: "Book", in: ["Library": "public var a = 1\nclass Book {}"]) == "Book")
    }

    @Test("is that of the class with a superclass where two modules show one, and none where both have a superclass")
    func several() throws {
        let (plain, managed) = ("public class Book {}", "open class Book: NSManagedObject {}")
        #expect(try name(of: "Book", in: ["Audio": plain, "Library": managed]) == "Library.Book")
        #expect(try name(of: "Book", in: ["Audio": plain, "Video": plain]) == "Book")
        #expect(try name(of: "Book", in: ["Audio": managed, "Video": managed]) == "Book")
        #expect(
            try name(of: "Book", in: ["Audio": "public class Book<T: A> {}", "Library": managed]) == "Library.Book")
    }

    @Test("is left out for Foundation's classes, but is the target's for a class whose name Foundation has, too")
    func foundation() throws {
        #expect(try name(of: "NSArray", in: ["Library": "public class NSArray: A {}"]) == "NSArray")
        #expect(try name(of: "Unit", in: "class Unit: NSManagedObject {}") == "App.Unit")
    }
}
