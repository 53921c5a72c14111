import PredicateFormat
import Testing

private struct Sentence: Equatable {
    var text: String
}

private struct Shelf {
    var name = ""
    var books: [Book] = []
}
private struct Book: Hashable {
    var title = ""
}

/// What libraries do that write predicates in ways of their own: key paths adopt a protocol, which has the words.
private protocol Term<Value> {
    associatedtype Root
    associatedtype Value
}

extension KeyPath: Term {}

extension Term where Value == String {
    fileprivate func like(_ pattern: String, _ isExact: Bool = false) -> Sentence { Sentence(text: "like \(pattern)") }
    fileprivate func beginsWith(_ text: String, _ isExact: Bool = false) -> Sentence {
        Sentence(text: "begins \(text)")
    }
}

extension Term where Value: Sequence {
    fileprivate func any<Part>(_ part: KeyPath<Value.Element, Part>) -> Sentence { Sentence(text: "any") }
    fileprivate var count: Sentence { Sentence(text: "count") }
}

@Suite("Words that a program gives key paths itself")
struct OwnWordsTests {
    @Test("go before those that come with Core Data here, and that Apple's does not have")
    func precedence() {
        let sentences = [
            (\Shelf.name).like("a*"), (\Shelf.name).beginsWith("a"), (\Shelf.books).any(\.title), (\Shelf.books).count,
        ]
        #expect(sentences.map(\.text) == ["like a*", "begins a", "any", "count"])
    }

    @Test("leave the others as they are")
    func others() {
        #expect((\Shelf.name).endsWith("z") == NSPredicate(format: "name ENDSWITH 'z'"))
    }
}
