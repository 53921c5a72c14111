import PredicateFormat
import Testing

@Suite("A search query")
struct SearchQueryTests {
    private func alternatives(_ text: String, english: Bool = false) -> [SearchQuery.Alternative] {
        SearchQuery(text, tokenizer: SearchTokenizer(stemsEnglish: english)).alternatives
    }

    private func term(_ words: String..., isPrefix: Bool = false) -> SearchQuery.Term {
        .init(words, isPrefix: isPrefix)
    }

    @Test("has words, beginnings, phrases and excluded words")
    func syntax() {
        #expect(
            alternatives("Whale* -Moby \"white sea\"") == [
                .init(required: [term("whale", isPrefix: true), term("white", "sea")], excluded: [term("moby")])
            ])
        #expect(
            alternatives("“white sea” -\"a b\"") == [
                .init(required: [term("white", "sea")], excluded: [term("a", "b")])
            ])
        #expect(alternatives("\"white wha*\"") == [.init(required: [term("white", "wha", isPrefix: true)])])
        #expect(alternatives("\"white wha\"*") == [.init(required: [term("white", "wha", isPrefix: true)])])
    }

    @Test("reads OR in capitals between words, and binds the words beside it first")
    func or() {
        #expect(
            alternatives("a b OR c") == [.init(required: [term("a"), term("b")]), .init(required: [term("c")])])
        #expect(alternatives("a or b") == [.init(required: [term("a"), term("or"), term("b")])])
        #expect(alternatives("OR a") == [.init(required: [term("or"), term("a")])])
        #expect(alternatives("a OR") == [.init(required: [term("a"), term("or")])])
        #expect(alternatives("a OR OR b") == [.init(required: [term("a")]), .init(required: [term("or"), term("b")])])
    }

    @Test("takes everything else as text")
    func text() {
        #expect(alternatives("don't") == [.init(required: [term("don", "t")])])
        #expect(
            alternatives("title:whale AND (x)") == [.init(required: [term("title", "whale"), term("and"), term("x")])])
        #expect(alternatives("\"white sea") == [.init(required: [term("white", "sea")])])
        #expect(alternatives("a - b") == [.init(required: [term("a"), term("b")])])
        #expect(alternatives("foo-bar") == [.init(required: [term("foo", "bar")])])
    }

    @Test("finds nothing without a word that must be there")
    func empty() {
        for text in ["", "  ", "\"", "-moby", "*", "-", "\"\"", "()", "-a OR -b"] {
            #expect(SearchQuery(text).isEmpty, "\(text)")
            #expect(SearchQuery(text).fts5Expression == nil)
            #expect(SearchQuery(text).tsquery() == nil)
        }
        #expect(alternatives("-a OR b") == [.init(required: [term("b")])])
    }

    @Test("takes pieces of runs without spaces as what follows each other")
    func runs() {
        #expect(alternatives("東京都") == [.init(required: [term("東京", "京都")])])
        #expect(alternatives("東") == [.init(required: [term("東", isPrefix: true)])])
        #expect(alternatives("東京*") == [.init(required: [term("東京")])])
        #expect(alternatives("\"東京 tower\"") == [.init(required: [term("東京", "京", "tower")])])
    }

    @Test("stems words, and beginnings as far as they are their stems'")
    func stemming() {
        #expect(alternatives("whales", english: true) == [.init(required: [term("whale")])])
        #expect(alternatives("happy*", english: true) == [.init(required: [term("happ", isPrefix: true)])])
    }

    @Test("reads at most a certain number of words")
    func limits() {
        let query = SearchQuery(String(repeating: "a b c ", count: 1000))
        #expect(query.alternatives.map(\.required.count) == [SearchQuery.mostTerms])
        let phrase = SearchQuery("\"" + String(repeating: "a ", count: 1000) + "\"")
        #expect(phrase.alternatives.first?.required.first?.tokens.count == SearchQuery.mostTokens)
    }

    @Test("is written for FTS5")
    func fts5() {
        #expect(
            SearchQuery("Whale* -Moby \"white sea\" OR 東").fts5Expression
                == #"(("whale" * AND "white sea") NOT ("moby")) OR ("東" *)"#)
    }

    @Test("is written for PostgreSQL, with phrases and without")
    func tsquery() {
        let query = SearchQuery("Whale* -Moby -\"a b\" \"white sea\" OR 東")
        #expect(query.tsquery() == "('whale':* & ('white' <-> 'sea') & !'moby' & !('a' <-> 'b')) | ('東':*)")
        #expect(query.tsquery(hasPhrases: false) == "('whale':* & ('white' & 'sea') & !'moby') | ('東':*)")
        #expect(query.hasPhrases)
        #expect(!SearchQuery("a -b").hasPhrases)
    }
}
