import PredicateFormat
import Testing

/// Where Core Data raises an exception, the program stops, and says why.
@Suite("The message with which a programmer's mistake stops the program")
struct StopTests {
    private func text(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test("names the place in a format that does not parse")
    func format() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(format: "name = = 1")
        }
        #expect(text(result).contains("at character 8: expected a value, found \"=\""))
        #expect(text(result).contains("name = = 1\n           ^"))
    }

    @Test("names the number of arguments that the format needs")
    func count() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(format: "a == %@ AND b == %@", 1)
        }
        #expect(text(result).contains("expected 2 arguments, one a placeholder, found 1"))
    }

    @Test("names a key that a value does not have")
    func key() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            struct Book { let title = "a" }
            _ = NSPredicate(format: "colour == 1").evaluate(with: Book())
        }
        #expect(text(result).contains("Book has no key \"colour\""))
        #expect(text(result).contains("title"))
    }

    @Test("names a collection that is compared without a quantifier")
    func many() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let author = ["books": [["price": 1], ["price": 5]]]
            _ = NSPredicate(format: "books.price > 3").evaluate(with: author)
        }
        #expect(text(result).contains("books.price > 3: books.price gives a collection"))
        #expect(text(result).contains("Put ANY, ALL or NONE"))
        let single = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(format: "names BEGINSWITH 'a'").evaluate(with: Person("a", friends: [Person("b")]))
            _ = NSPredicate(format: "friends BEGINSWITH 'a'").evaluate(with: Person("a", friends: [Person("b")]))
        }
        #expect(text(single).contains("friends gives a collection"))
    }

    @Test("names a variable that has no value")
    func variable() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NSPredicate(format: "a == $limit").evaluate(with: ["a": 1], substitutionVariables: ["b": 2])
        }
        #expect(text(result).contains("$limit has no value: given are b"))
    }
}
