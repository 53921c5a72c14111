import PredicateFormat
import Testing

@Suite("A prepared predicate")
struct PreparedPredicateTests {
    private func prepared(_ format: String, _ arguments: Any?...) throws -> PreparedPredicate {
        try preparedPredicate(of: NSPredicate(format: format, argumentArray: arguments.map { $0 ?? NSNull() }))
    }

    @Test("keeps its arguments apart from what all predicates of its format share")
    func skeleton() throws {
        let first = try prepared("uid == %@ AND age > 18", "a")
        let second = try prepared("uid == %@ AND age > 18", "b")
        #expect(first.identity != nil)
        #expect(first.identity == second.identity)
        #expect(first.skeleton == second.skeleton)
        #expect(first.arguments == [.string("a")])
        #expect(second.tree == (try tree("uid == 'b' AND age > 18")))
    }

    @Test("has the same key for arguments of the same kinds only")
    func keys() throws {
        let key = try prepared("uid == %@", "a").key
        #expect(try prepared("uid == %@", "b").key == key)
        #expect(try prepared("uid == %@", nil).key != key)
        #expect(try prepared("uid == %@", 1).key != key)
        #expect(try prepared("id == %@", "a").key != key)
        let two = try prepared("uid IN %@", ["a", "b"]).key
        #expect(try prepared("uid IN %@", ["c", "d"]).key == two)
        #expect(try prepared("uid IN %@", ["c"]).key != two)
        #expect(try prepared("uid IN %@", ["c", NSNull()]).key != two)
    }

    @Test("has another identity for another key path")
    func keyPaths() throws {
        let first = try prepared("%K == %@", "uid", "a")
        #expect(try prepared("%K == %@", "uid", "b").identity == first.identity)
        #expect(try prepared("%K == %@", "name", "b").identity != first.identity)
        #expect(first.arguments == [.string("a")])
    }

    @Test("has no format without one, and is its own key")
    func withoutFormat() throws {
        func predicate(_ value: Any) -> NSPredicate {
            NSComparisonPredicate(
                leftExpression: NSExpression(forKeyPath: "a"), rightExpression: NSExpression(forConstantValue: value),
                modifier: .direct, type: .equalTo)
        }
        let first = try preparedPredicate(of: predicate(1))
        #expect(first.identity == nil)
        #expect(try preparedPredicate(of: predicate(1)).key == first.key)
        // Another constant is another argument of the same skeleton; one of another kind is another key.
        #expect(try preparedPredicate(of: predicate(2)).key == first.key)
        #expect(try preparedPredicate(of: predicate(2)).arguments == [.integer(2)])
        #expect(try preparedPredicate(of: predicate("2")).key != first.key)
    }
}

@Suite("Key-value coding")
struct KeyValueCodingTests {
    private struct Track {
        var title: String
        var length: Int?
        var album: Album
    }

    private struct Album {
        var name: String
    }

    private class Base {
        var id = 7
    }

    private final class Derived: Base {
        var name = "x"
    }

    @Test("reads classes that adopt it, dictionaries, and by reflection structs and other classes")
    func kinds() throws {
        #expect(try evaluate(Person("Ann", age: 3), "name == 'Ann' AND age == 3"))
        #expect(try evaluate(["name": "Ann"] as NSDictionary, "name == 'Ann'"))
        let track = Track(title: "So What", length: nil, album: Album(name: "Kind of Blue"))
        #expect(try evaluate(track, "title == 'So What' AND length == nil AND album.name BEGINSWITH 'Kind'"))
        #expect(try evaluate(Derived(), "id == 7 AND name == 'x'"))
    }

    @Test("lets objects say what they are identical to")
    func identity() throws {
        final class Identifier: NSObject, KeyedOperand {
            func operand(forKey key: String) -> Value { .null }
        }
        final class Record: NSObject, KeyedOperand {
            let identifier: Identifier
            init(_ identifier: Identifier) { self.identifier = identifier }
            func operand(forKey key: String) -> Value { key == "id" ? .integer(1) : .null }
            var operandIdentity: NSObject { identifier }
        }
        let identifier = Identifier()
        let record = Record(identifier)
        #expect(try evaluate(record, "SELF == %@", identifier))
        #expect(try evaluate(record, "SELF IN %@", [Identifier(), identifier]))
        #expect(try evaluate(record, "SELF == %@", Record(identifier)))
        #expect(try evaluate(record, "SELF == %@", Identifier()) == false)
        #expect(try evaluate(record, "id == 1"))
        #expect(try compiledPredicate(of: NSPredicate(format: "id == 1")).evaluate(record))
    }
}
