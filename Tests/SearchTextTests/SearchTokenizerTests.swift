import Foundation
import PredicateFormat
import TestSupport
import Testing

@Suite("A search tokenizer")
struct SearchTokenizerTests {
    private func words(_ text: String, _ tokenizer: SearchTokenizer = SearchTokenizer()) -> [String] {
        tokenizer.tokens(of: text).map(\.text)
    }

    @Test("divides text at what is neither a letter nor a digit")
    func dividing() {
        #expect(words("The  white-whale, 2nd ed.") == ["the", "white", "whale", "2nd", "ed"])
        #expect(
            words("don’t snake_case a@example.com 3.14") == [
                "don", "t", "snake", "case", "a", "example", "com", "3", "14",
            ])
        #expect(words("").isEmpty)
        #expect(words(" …—!? \0").isEmpty)
    }

    @Test("folds case, width, ligatures and diacritics")
    func folding() {
        #expect(words("Élève ÉLÈVE e\u{301}le\u{300}ve") == ["eleve", "eleve", "eleve"])
        #expect(words("Straße STRASSE ſtraſſe") == ["strasse", "strasse", "strasse"])
        #expect(
            words("ＷＨＡＬＥ ﬁn Łódź Ørsted İstanbul ısı ŒUVRE") == [
                "whale", "fin", "lodz", "orsted", "istanbul", "isi", "oeuvre",
            ])
        #expect(words("𝐖𝐡𝐚𝐥𝐞 ⓦ") == ["whale", "w"])
        #expect(words("ΘΆΛΑΣΣΑ θάλασσας ᾼδης") == ["θαλασσα", "θαλασσασ", "αδησ"])
        #expect(words("Ёлка йод") == ["елка", "иод"])
        #expect(words("x² ½ ٢٠٢٦ १२") == ["x2", "1", "2", "2026", "12"])
    }

    @Test("leaves out vowel points and stretching, and keeps vowel signs")
    func marks() {
        #expect(words("לִוְיָתָן") == ["לויתן"])
        #expect(words("حُوت سفينـــة أبيض") == ["حوت", "سفينة", "ابيض"])
        #expect(words("कि की") != words("क क"))
        #expect(words("کتاب\u{200C}ها").count == 1)
    }

    @Test("makes pairs of runs without spaces, and their last character")
    func runs() {
        #expect(words("東京都") == ["東京", "京都", "都"])
        #expect(words("鯨") == ["鯨"])
        #expect(words("東京tower 都") == ["東京", "京", "tower", "都"])
        #expect(words("학교에서") == ["학교", "교에", "에서", "서"])
        #expect(words("ｸｼﾞﾗ") == words("クジラ"))
        #expect(words("\u{1112}\u{1161}\u{11AB}국") == ["한국", "국"])
        #expect(words("น้ำ") == words("\u{0E19}\u{0E49}\u{0E4D}\u{0E32}"))
    }

    @Test("has a token for each emoji")
    func emoji() {
        #expect(words("a🐳b 👩‍🚀👍🏽❤️") == ["a", "🐳", "b", "👩", "🚀", "👍", "❤"])
    }

    @Test("says where each word is")
    func places() {
        let text = "Die Straße e\u{301}t 東京"
        let pieces = SearchTokenizer().tokens(of: text).map {
            String(decoding: Array(text.utf8)[$0.range], as: UTF8.self)
        }
        #expect(pieces == ["Die", "Straße", "e\u{301}t", "東京", "京"])
    }

    @Test("removes English endings if it is told to")
    func stemming() {
        let english = SearchTokenizer(stemsEnglish: true)
        #expect(
            words("caresses ponies caress cats feed agreed plastered motoring sing", english)
                == ["caress", "poni", "caress", "cat", "feed", "agre", "plaster", "motor", "sing"])
        #expect(
            words("conflated troubled sized hopping falling filing happy sky", english)
                == ["conflat", "troubl", "size", "hop", "fall", "file", "happi", "sky"])
        #expect(
            words(
                "relational vietnamization triplicate hopeful adoption revival effective controlling rate cease",
                english)
                == ["relat", "vietnam", "triplic", "hope", "adopt", "reviv", "effect", "control", "rate", "ceas"])
        #expect(words("whale whales whaling Élèves x2s", english) == ["whale", "whale", "whale", "elev", "x2s"])
    }

    @Test("finds the same words in composed and decomposed text")
    func canonicalEquivalence() {
        var random = ScriptSamples.Generator(state: 7)
        for _ in 0..<3000 {
            let text = Bool.random(using: &random) ? ScriptSamples.text(&random) : ScriptSamples.noise(&random)
            // Foundation composes characters beyond the first plane with marks that they do not compose with.
            if text.unicodeScalars.contains(where: { $0.value > 0xFFFF }) { continue }
            let expected = words(text)
            for form in [text.decomposedStringWithCanonicalMapping, text.precomposedStringWithCanonicalMapping]
            where words(form) != expected {
                Issue.record("\(text.unicodeScalars.map { String($0.value, radix: 16) })")
            }
        }
    }

    @Test("folds every character so that folding it again changes nothing")
    func idempotence() {
        for value in UInt32(0)...0x1FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let tokens = SearchTokenizer().tokens(of: String(scalar))
            if tokens.isEmpty || tokens.contains(where: { $0.kind == .pair }) { continue }
            let folded = tokens.map(\.text)
            if words(folded.joined(separator: " ")) != folded { Issue.record("U+\(String(value, radix: 16))") }
        }
    }

    @Test("cuts long words in texts and queries at the same place")
    func longWords() {
        let long = String(repeating: "é", count: 1000)
        #expect(words(long).map(\.utf8.count) == [SearchTokenizer.longestToken - 3])
        #expect(words(String(repeating: "ж", count: 1000)).allSatisfy { $0.utf8.count <= SearchTokenizer.longestToken })
        let scan = SearchScan(SearchQuery(long), tokenizer: SearchTokenizer())
        #expect(scan.matches([long + "x"]))
    }
}
