import CoreData
import Foundation
import TestSupport
import Testing

@MainActor @Suite("A predicate of a few hundred bytes")
struct GrowingSQLTests {
    /// Formats that say another one twice.
    nonisolated private static let nestings: [(start: String, next: @Sendable (String) -> String)] = [
        ("age", { "TERNARY(\($0) != 1, 1, 2)" }), ("age", { "TERNARY(1 != \($0), 1, 2)" }),
        ("'a'", { "TERNARY('a' IN \($0), 'a', 'b')" }), ("'a'", { "TERNARY('b' ENDSWITH \($0), 'a', 'b')" }),
        ("nick", { "TERNARY(\($0) ==[c] nick, 'a', 'b')" }), ("nick", { "TERNARY(\($0) ==[c] nil, 'a', 'b')" }),
        ("nick", { "TERNARY(\($0) IN[c] {nick, name, nil}, 'a', 'b')" }),
        ("nick", { "TERNARY(\($0) IN {age, score, price, nil}, 'a', 'b')" }),
        ("nick", { "TERNARY(\($0) BETWEEN[c] {'a', nick}, 'a', 'b')" }),
        ("author", { "TERNARY(age == 1, author, \($0))" }),
        ("author", { "TERNARY(\($0) == nil, author, author.self)" }),
        ("nick", { "TERNARY(\($0) < 'b', 5, 'b')" }), ("nick", { "TERNARY('b' CONTAINS \($0), \"b\", nick)" }),
    ]

    @Test("ends in the time of its length, whatever nests in it", arguments: nestings.indices)
    func ends(nesting: Int) throws {
        let stores = try ComparedStores()
        var format = Self.nestings[nesting].start
        for level in 1...60 {
            format = Self.nestings[nesting].next(format)
            guard [3, 10, 12, 14, 60].contains(level) else { continue }
            let predicate = try NSPredicate(parsing: "\(format) != nil", arguments: [])
            var found: [[String]] = []
            let time = ContinuousClock().measure {
                for (_, context) in stores.contexts {
                    // SQL may refuse what is deep, at once.
                    guard let books = try? context.all("Book", predicate) else { continue }
                    found.append(books.compactMap { $0.string("name") }.sorted())
                }
            }
            #expect(time < .seconds(30), "\(level) levels")
            #expect(Set(found).count == 1, "\(level) levels")
            #expect(level > 3 || found.count == 2)
        }
    }

    @Test(
        "is evaluated in the time of its length, though it asks for any of what conditions lead to",
        arguments: [
            "ANY TERNARY(%, author, author).books.name == 'a'", "ANY SUBQUERY(author, $a, %).books.name == 'a'",
        ])
    func modifiers(nesting: String) throws {
        let stores = try ComparedStores()
        var format = "age > 100"
        for _ in 0..<40 { format = nesting.replacingOccurrences(of: "%", with: format) }
        let context = stores.contexts[1].context
        let predicate = try NSPredicate(parsing: format, arguments: [])
        let time = ContinuousClock().measure { _ = try? context.all("Book", predicate) }
        #expect(time < .seconds(30))
    }

    @Test("is refused before its SQL is too long, with the reason")
    func refused() throws {
        var format = "nick"
        for _ in 0..<40 { format = "TERNARY(\(format) IN[c] {nick, name, note, nil}, 'a', 'b')" }
        let message = try ComparedStores().error("Book", "\(format) == 'a'")
        #expect(message.contains("a predicate whose SQL would be too long"))
    }

    @Test("is not taken for one that is long because many entities declare its property")
    func manyColumns() throws {
        let kinds = (0..<80).map {
            Library.entity("Kind\($0)", [Library.attribute("code", .stringAttributeType)])
        }
        let box = Library.entity("Box", [Library.attribute("name", .stringAttributeType)])
        box.subentities = kinds
        let model = NSManagedObjectModel()
        model.entities = [box] + kinds
        let stores = try ComparedStores(model) { context in
            context.make("Kind7", ["name": "a", "code": "x59"])
            context.make("Kind8", ["name": "b", "code": "y"])
        }
        let any = (0..<60).map { "code BEGINSWITH 'x\($0)'" }.joined(separator: " OR ")
        let found = try stores.contexts[0].context.all("Box", NSPredicate(format: any))
        #expect(found.map { $0.string("name") } == ["a"])
    }

    @Test("is not taken for one that is long because its lists are")
    func longLists() throws {
        let stores = try ComparedStores()
        let texts = (0..<20_000).map { "N\($0)" } + ["B3"]
        try stores.check("Book", "nick IN[c] %@", [texts], finds: ["b3"])
        let parts = (0..<20_000).map { NSPredicate(format: "age == %ld", $0) }
        let any = NSCompoundPredicate(orPredicateWithSubpredicates: parts)
        #expect(try stores.contexts[0].context.all("Book", any).count == 1)
    }
}
