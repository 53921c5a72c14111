import Testing

@testable import CodeGeneration

@Suite("Accessors beside types that are declared more than once, or of one another")
struct RepeatedTypeTests {
    private let tests = AccessorTests()

    @Test("are not searched for without end in classes that inherit in a circle", .timeLimit(.minutes(15)))
    func circle() throws {
        let circle = try tests.generate([
            "Book.swift": "import CoreData\nclass Book: Book { @NSManaged var title: Kind }\nenum Kind: Int { case a }"
        ])
        // The compiler that builds the target says what is wrong.
        #expect(tests.symbols(circle).first == "$s3App4BookC5titleAA4KindOvg")
        let branches = try tests.generate([
            "Book.swift": """
            import CoreData
            #if os(Linux)
            class Book: Thing { @NSManaged var title: String }
            class Thing: NSManagedObject {}
            #else
            class Book: NSManagedObject { @NSManaged var title: String }
            class Thing: Book {}
            #endif
            """
        ])
        #expect(tests.symbols(branches).first == "$s3App4BookC5titleSSvg")
    }

    @Test("have the type of another module that is compiled here")
    func conditions() throws {
        let source = """
            import CoreData
            import Rooms
            class Book: NSManagedObject {
                @NSManaged var key: ID?
                @NSManaged var kind: Shelf.Kind?
            }
            """
        for _ in 0..<4 {
            let text = try tests.generate(
                ["Book.swift": source],
                dependencies: [
                    "Rooms": [
                        "Ours.swift": "#if os(Linux)\npublic struct ID {}\n#endif\n",
                        "Theirs.swift": "#if !os(Linux)\npublic typealias ID = Int\n#endif\n",
                        "A.swift":
                            "public enum Shelf {}\n#if os(Windows)\nextension Shelf { public typealias Kind = Int }\n#endif",
                        "B.swift": "extension Shelf { public enum Kind { case a } }",
                    ]
                ])
            #expect(tests.symbols(text).contains("$s3App4BookC3key5Rooms2IDVSgvg"))
            #expect(tests.symbols(text).contains("$s3App4BookC4kind5Rooms5ShelfO4KindOSgvg"))
        }
    }

    @Test("have the type under a condition that only the other module's build knows")
    func unknownCondition() throws {
        let text = try tests.generate(
            ["Book.swift": "import CoreData\nimport Rooms\nclass Book: NSManagedObject { @NSManaged var key: ID? }"],
            dependencies: ["Rooms": ["ID.swift": "#if ROOMS_HAS_IDS\npublic struct ID {}\n#endif"]])
        #expect(tests.symbols(text).first == "$s3App4BookC3key5Rooms2IDVSgvg")
    }
}
