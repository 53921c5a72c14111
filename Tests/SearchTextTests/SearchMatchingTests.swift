import Foundation
import PredicateFormat
import TestSupport
import Testing

@Suite("A search in memory")
struct SearchMatchingTests {
    private let tokenizer = SearchTokenizer()

    /// A number that a variable of the environment raises.
    private static func count(_ variable: String, _ usual: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? usual
    }

    private func matches(_ query: String, _ fields: String...) -> Bool {
        SearchScan(SearchQuery(query), tokenizer: tokenizer).matches(fields)
    }

    @Test("finds words in any field, phrases in one")
    func fields() {
        #expect(matches("white sea", "The White Whale", "a sea"))
        #expect(!matches("\"white sea\"", "The White", "sea"))
        #expect(matches("\"white sea\"", "", "the white sea"))
        #expect(!matches("white -sea", "white", "the sea"))
        #expect(matches("wha* OR boat", "whaling"))
        #expect(!matches("wha", "whaling"))
    }

    @Test("finds any piece of a run without spaces, and nothing that is not a piece")
    func runs() {
        for piece in ["東", "京", "都", "東京", "京都", "東京都", "京都に", "\"都 に\""] {
            #expect(matches(piece, "東京都に行く") == (piece != "\"都 に\""), "\(piece)")
        }
        #expect(!matches("東都", "東京都に行く"))
        #expect(!matches("東京 鯨", "東京都に行く"))
        #expect(matches("\"都 tower\"", "東京都 tower"))
        #expect(matches("학교", "학교에서"))
    }

    @Test("finds in FTS5 what it finds in memory, in twelve scripts", arguments: [1, 2, 3, 4] as [UInt64])
    func agreesWithFTS5(seed: UInt64) throws {
        var random = ScriptSamples.Generator(state: seed)
        let tokenizer = SearchTokenizer(stemsEnglish: seed % 2 == 0)
        let documents = (0..<Self.count("PIPPIN_SEARCH_TEXTS", 200)).map { _ in
            [ScriptSamples.text(&random), ScriptSamples.text(&random)]
        }
        let table = try FullTextTable(fields: 2)
        for document in documents { try table.insert(document, tokenizer) }
        var hits = 0
        for _ in 0..<Self.count("PIPPIN_SEARCH_QUERIES", 100) {
            let text = ScriptSamples.query(&random)
            let query = SearchQuery(text, tokenizer: tokenizer)
            let scan = SearchScan(query, tokenizer: tokenizer)
            let expected = documents.indices.filter { scan.matches(documents[$0]) }
            #expect(try table.find(query).keys.sorted() == expected, "\(text)")
            hits += expected.count
        }
        #expect(hits > 500)
    }

    @Test("ranks as FTS5 does, with the weights of fields")
    func ranks() throws {
        var random = ScriptSamples.Generator(state: 11)
        let documents = (0..<300).map { _ in [ScriptSamples.text(&random), ScriptSamples.text(&random)] }
        let table = try FullTextTable(fields: 2)
        for document in documents { try table.insert(document, tokenizer) }
        for text in ["whale", "white OR кит", "東", "белый море", "\"white whale\" OR λευκός"] {
            let query = SearchQuery(text)
            let scan = SearchScan(query, tokenizer: tokenizer)
            var ranking = SearchRanking<Int>(scan, weights: [4, 1])
            for (index, document) in documents.enumerated() { ranking.add(scan.findings(in: document), key: index) }
            let found = try table.find(query, weights: [4, 1])
            let hits = ranking.hits()
            #expect(!hits.isEmpty)
            #expect(hits.map(\.key).sorted() == found.keys.sorted())
            for hit in hits { #expect(abs(hit.rank - (found[hit.key] ?? 0)) < 1e-9) }
            #expect(hits.map(\.rank) == hits.map(\.rank).sorted())
        }
    }

    @Test("gives FTS5 the words that it means")
    func contentOfFTS5() throws {
        var random = ScriptSamples.Generator(state: 3)
        for _ in 0..<500 {
            let text = ScriptSamples.text(&random) + ScriptSamples.noise(&random)
            let table = try FullTextTable(fields: 1)
            try table.insert([text], tokenizer)
            #expect(try table.words() == tokenizer.tokens(of: text).map(\.text), "\(text.debugDescription)")
        }
    }

    @Test("never makes an expression that FTS5 refuses, whatever the query's text is")
    func fuzzedQueries() throws {
        var random = ScriptSamples.Generator(state: 99)
        let table = try FullTextTable(fields: 1)
        let documents = (0..<20).map { _ in ScriptSamples.noise(&random) + " " + ScriptSamples.text(&random) }
        for document in documents { try table.insert([document], tokenizer) }
        for _ in 0..<Self.count("PIPPIN_SEARCH_NOISE", 3000) {
            let text = ScriptSamples.noise(&random)
            let query = SearchQuery(text)
            let scan = SearchScan(query, tokenizer: tokenizer)
            let expected = documents.indices.filter { scan.matches([documents[$0]]) }
            #expect(try table.find(query).keys.sorted() == expected, "\(text.debugDescription)")
        }
    }

    @Test("makes a tsvector whose phrases end with their text")
    func tsvector() {
        let short = tokenizer.tsvector(of: ["White sea white", "sea 東京"], labels: ["A", "D"], prefix: "3.")
        #expect(short.text == "'3.white':1A,3A '3.sea':2A,5 '3.東京':6 '3.京':7" && short.isWhole)
        let long = tokenizer.tsvector(of: [String(repeating: "a ", count: 20_000) + "b"])
        #expect(long.text?.hasPrefix("'a':1,2,3") == true)
        #expect(long.text?.hasSuffix(",255 'b'") == true)
        #expect(!long.isWhole)
        let words = (0..<200_000).map { "word\($0)" }.joined(separator: " ")
        #expect(tokenizer.tsvector(of: [words]).text == nil)
    }
}

@Suite("An excerpt of a text")
struct SearchExcerptTests {
    private func excerpt(_ query: String, _ text: String, _ words: Int) -> String {
        SearchScan(SearchQuery(query), tokenizer: SearchTokenizer()).excerpt(of: text, words: words).marked("[", "]")
    }

    @Test("shows the words around what was found, as they were written")
    func window() {
        let text = "Call me Ishmael. Some years ago, never mind how long, I thought I would SAIL about a little."
        #expect(excerpt("sail", text, 5) == "…I would [SAIL] about a…")
        #expect(excerpt("call", text, 3) == "[Call] me Ishmael…")
        #expect(excerpt("little", text, 3) == "…about a [little].")
        #expect(excerpt("sail", "Sail!", 10) == "[Sail]!")
    }

    @Test("prefers the piece that has the most of the words")
    func best() {
        #expect(excerpt("white whale", "white a b c d e f g h a white old whale b", 4) == "…[white] old [whale] b")
    }

    @Test("shows the first words of a text without a match")
    func none() {
        #expect(excerpt("x", "one two three", 2) == "one two…")
        #expect(excerpt("x", "", 2) == "")
        #expect(excerpt("x", "—", 2) == "—")
    }

    @Test("marks pairs of a run as one piece, and whole characters")
    func runs() {
        #expect(excerpt("東京都", "私は東京都に行く", 20) == "私は[東京都]に行く")
        #expect(excerpt("ete", "L’e\u{301}te\u{301} 👩‍🚀", 20) == "L’[e\u{301}te\u{301}] 👩‍🚀")
    }

    @Test("is made of any text for any query")
    func fuzzed() {
        var random = ScriptSamples.Generator(state: 5)
        for _ in 0..<1000 {
            let text = ScriptSamples.text(&random) + ScriptSamples.noise(&random) + ScriptSamples.text(&random)
            let scan = SearchScan(SearchQuery(ScriptSamples.query(&random)), tokenizer: SearchTokenizer())
            let excerpt = scan.excerpt(of: text, words: 5)
            #expect(text.contains(excerpt.text) || excerpt.text.isEmpty)
            for match in excerpt.matches { #expect(!excerpt.text[match].isEmpty) }
            // Cut into matches and what is between them, it is the whole piece.
            #expect(excerpt.marked("", "").contains(excerpt.text) || excerpt.text.isEmpty)
        }
    }
}
