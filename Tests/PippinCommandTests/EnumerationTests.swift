import CoreData
import SQLiteConnection
import StoreReading
import TestSupport
import Testing

@testable import PippinCommand

/// A store with the composite attributes that SwiftData makes of enumerations and structs.
@Suite("Composite attributes of SwiftData")
struct EnumerationTests {
    private func attribute(_ name: String, _ type: NSAttributeType = .stringAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
        return attribute
    }

    private func composite(
        _ name: String, isOptional: Bool, _ elements: [NSAttributeDescription]
    ) -> NSCompositeAttributeDescription {
        let composite = NSCompositeAttributeDescription()
        (composite.name, composite.isOptional, composite.elements) = (name, isOptional, elements)
        return composite
    }

    private func store() throws -> SmallStore {
        let store = try SmallStore { model in
            model.entitiesByName["Book"]?.properties += [
                composite("kind", isOptional: true, [attribute("kind")]),
                composite(
                    "state", isOptional: true,
                    [
                        attribute("sold"),
                        composite(
                            "lent", isOptional: true, [attribute("_0"), attribute("_1", .integer64AttributeType)]),
                    ]),
                composite("size", isOptional: true, [attribute("width", .integer64AttributeType)]),
            ]
        }
        try execute(
            """
            UPDATE ZBOOK SET ZKIND = 'novel', ZSOLD = 'sold', ZWIDTH = 3 WHERE Z_PK = 1;
            UPDATE ZBOOK SET ZKIND = 'play', Z_0 = 'Ann', Z_1 = 7 WHERE Z_PK = 2
            """, in: store.folder.store)
        return store
    }

    @Test("Enumerations are dumped as their cases, with associated values, and as their raw values")
    func dump() throws {
        let store = try store()
        let run = CommandRun("dump", store.path, "--entity", "Book")
        #expect(run.output.contains("kind     \"novel\"\n"), "\(run.output)")
        #expect(run.output.contains("state    .sold\n"))
        #expect(run.output.contains("state    .lent(\"Ann\", 7)\n"))
        #expect(run.output.contains("size     { width: 3 }\n"))
    }

    @Test("Enumerations are queried as their cases")
    func query() throws {
        let store = try store()
        let run = CommandRun("query", store.path, "Book where kind.kind == 'play'", "--columns", "title,kind,state")
        #expect(run.output.contains(".lent(\"Ann\", 7)"), "\(run.output)")
        #expect(run.output.contains("play"))
        #expect(!run.output.contains("novel"))
    }

    @Test("The raw value of an enumeration has the attribute's name in SQL")
    func sql() throws {
        let store = try store()
        let run = CommandRun("sql", store.path, "SELECT title, kind, size_width FROM Book ORDER BY _id LIMIT 1")
        #expect(run.output.contains("novel"), "\(run.output) \(run.errors)")
    }

    @Test(
        "What is not an enumeration's stays a struct's",
        arguments: [
            (
                [FieldValue.Element(name: "a", value: .string("b"), role: .enumerationCase(isOptional: false))],
                "{ a: \"b\" }"
            ),
            (
                [
                    .init(name: "a", value: .string("a"), role: .enumerationCase(isOptional: false)),
                    .init(name: "b", value: .string("b"), role: .enumerationCase(isOptional: false)),
                ], "{ a: \"a\", b: \"b\" }"
            ),
            (
                [
                    .init(
                        name: "home", value: .composite([.init(name: "city", value: .string("Bath"))]),
                        role: .enumerationCase(isOptional: true))
                ], "{ home: { city: \"Bath\" } }"
            ),
            (
                [
                    .init(
                        name: "at", value: .composite([.init(name: "hour", value: .integer(7))]),
                        role: .enumerationCase(isOptional: false))
                ], ".at(hour: 7)"
            ),
        ])
    func structs(elements: [FieldValue.Element], text: String) {
        #expect(DumpText.text(of: .composite(elements)) == text)
    }
}
