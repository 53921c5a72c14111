import Testing

@testable import CodeGeneration

@Suite("Types of accessors, found where Swift finds them")
struct ForeignTypeTests {
    private func symbols(
        _ property: String, imports: String = "", _ more: [String: String] = [:],
        dependencies: [String: [String: String]] = [:]
    ) throws -> [String] {
        let source = "import CoreData\n\(imports)\nclass Book: NSManagedObject { @NSManaged var k: \(property) }"
        let tests = AccessorTests()
        let text = try tests.generate(
            ["Book.swift": source].merging(more) { $1 }, dependencies: dependencies)
        let symbols = tests.symbols(text)
        #expect(!symbols.isEmpty, "\(text)")
        return symbols
    }

    @Test("A type is taken from the module that the file imports, not from another one with a type of that name")
    func twoModules() throws {
        let dependencies = [
            "Geometry": ["Point.swift": "public struct Point {}"], "Audio": ["Point.swift": "public struct Point {}"],
        ]
        #expect(
            try symbols("Point?", imports: "import Geometry", dependencies: dependencies).first
                == "$s3App4BookC1k8Geometry5PointVSgvg")
    }

    @Test("A type is found in a module that the imported one exports")
    func exported() throws {
        let dependencies = [
            "Umbrella": ["Exports.swift": "@_exported import Geometry"],
            "Geometry": ["Point.swift": "public struct Point {}"],
        ]
        #expect(
            try symbols("Point?", imports: "import Umbrella", dependencies: dependencies).first
                == "$s3App4BookC1k8Geometry5PointVSgvg")
    }

    @Test("A type is found in a type of another module, declared there or in an extension")
    func nested() throws {
        let dependencies = [
            "Rooms": [
                "Shelf.swift": "public struct Shelf { public enum Kind: Int { case a } }",
                "More.swift": "extension Shelf { public struct Row { public enum Side { case left } } }",
            ]
        ]
        #expect(
            try symbols("Shelf.Kind", imports: "import Rooms", dependencies: dependencies).first
                == "$s3App4BookC1k5Rooms5ShelfV4KindOvg")
        #expect(
            try symbols("Shelf.Row.Side", imports: "import Rooms", dependencies: dependencies).first
                == "$s3App4BookC1k5Rooms5ShelfV3RowV4SideOvg")
    }

    @Test("A type is found through an alias of another module")
    func alias() throws {
        let dependencies = [
            "Games": [
                "Score.swift": "public typealias Score = Box<Int>", "Box.swift": "public struct Box<Content> {}",
            ]
        ]
        #expect(
            try symbols("Score", imports: "import Games", dependencies: dependencies).first
                == "$s3App4BookC1k5Games3BoxVySiGvg")
    }

    @Test("A type is found in the superclass")
    func superclass() throws {
        let source = """
            import CoreData
            class Thing: NSManagedObject {
                enum Kind: Int { case a }
                typealias Kinds = Set<Kind>
            }
            class Book: Thing {
                @NSManaged var kind: Kind
                @NSManaged var kinds: Kinds
            }
            """
        let tests = AccessorTests()
        let text = try tests.generate(["Book.swift": source])
        let symbols = tests.symbols(text)
        #expect(symbols.first == "$s3App4BookC4kindAA5ThingC4KindOvg", "\(text)")
        #expect(symbols.count == 4)
    }

    @Test("A type is found under the module's own name")
    func ownModule() throws {
        let kind = ["Kind.swift": "enum Kind: Int { case a }"]
        #expect(try symbols("App.Kind", kind).first == "$s3App4BookC1kAA4KindOvg")
        let tests = AccessorTests()
        let text = try tests.generate([
            "Book.swift": """
            import CoreData
            class Book: NSManagedObject {}
            extension App.Book { @NSManaged var title: String }
            """
        ])
        #expect(tests.symbols(text).first == "$s3App4BookC5titleSSvg", "\(text)")
    }

    @Test("A source with a branch for a compiler to come, or with regular expressions, has its accessors")
    func parsing() throws {
        let tests = AccessorTests()
        let text = try tests.generate([
            "Book.swift": """
            import CoreData
            class Book: NSManagedObject {
                @NSManaged var title: String
            }
            #if swift(>=9)
            unless let x { ::: }
            #endif
            """,
            "Author.swift": """
            import CoreData
            let marks = [/[\\/*"]/, #/[/*"]/#]
            class Author: NSManagedObject { @NSManaged var name: String }
            """,
        ])
        #expect(tests.symbols(text).count == 4, "\(text)")
    }
}
