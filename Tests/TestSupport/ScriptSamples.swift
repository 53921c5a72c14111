/// Words of twelve scripts, and texts and queries made of them at random, the same ones for a seed.
package enum ScriptSamples {
    package static let scripts: [(name: String, words: [String], joiner: String)] = [
        ("Latin", ["Whale", "whales", "white", "Straße", "élève", "Łódź", "naïve", "don't", "x2", "ﬁn", "İzmir"], " "),
        ("Greek", ["θάλασσα", "Θάλασσα", "λευκός", "ΛΕΥΚΌΣ", "πλοίο", "ναύτης", "ᾳδης"], " "),
        ("Cyrillic", ["кит", "Киты", "белый", "море", "йод", "Ёлка", "п'ять", "їжак"], " "),
        ("Hebrew", ["לִוְיָתָן", "לויתן", "לבן", "ים", "אונייה"], " "),
        ("Arabic", ["حُوت", "حوت", "أبيض", "ابيض", "بحر", "سفينـــة", "٢٠٢٦"], " "),
        ("Devanagari", ["व्हेल", "सफ़ेद", "समुद्र", "जहाज़", "नाविक", "१२"], " "),
        ("Tamil", ["திமிங்கலம்", "வெள்ளை", "கடல்", "கப்பல்"], " "),
        ("Thai", ["วาฬ", "สีขาว", "ทะเล", "เรือ", "ที่", "น้ำ"], ""),
        ("Han", ["白鯨", "鯨", "東京都", "京都", "大海", "船", "海"], ""),
        ("Kana", ["クジラ", "ｸｼﾞﾗ", "しろい", "うみ", "ガ", "カ\u{3099}", "ページ"], ""),
        ("Hangul", ["고래", "흰", "바다", "학교에서", "학교", "\u{1112}\u{1161}\u{11AB}국"], " "),
        ("Georgian", ["ვეშაპი", "ᲕᲔᲨᲐᲞᲘ", "თეთრი", "ზღვა"], " "),
    ]

    package struct Generator: RandomNumberGenerator {
        package var state: UInt64

        package init(state: UInt64) { self.state = state }

        package mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    /// A text of one script, now and then with a word of another one.
    package static func text(_ random: inout Generator) -> String {
        let script = scripts[Int.random(in: 0..<scripts.count, using: &random)]
        var result = ""
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let foreign = Int.random(in: 0..<6, using: &random) == 0
            let source = foreign ? scripts[Int.random(in: 0..<scripts.count, using: &random)] : script
            result += source.words.randomElement(using: &random) ?? ""
            result += Int.random(in: 0..<8, using: &random) == 0 ? ", " : source.joiner
        }
        return result
    }

    /// A query of one to four pieces, as a person types it.
    package static func query(_ random: inout Generator) -> String {
        let script = scripts[Int.random(in: 0..<scripts.count, using: &random)]
        var pieces: [String] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let word = script.words.randomElement(using: &random) ?? ""
            switch Int.random(in: 0..<8, using: &random) {
            case 0: pieces.append("-" + word)
            case 1: pieces.append(String(word.prefix(2)) + "*")
            case 2: pieces.append("\"\(word) \(script.words.randomElement(using: &random) ?? "")\"")
            case 3: pieces.append("\"\(word)\(script.words.randomElement(using: &random) ?? "")\"")
            case 4: pieces += [word, "OR"]
            case 5: pieces.append(String(word.suffix(1)))
            default: pieces.append(word)
            }
        }
        return pieces.joined(separator: " ")
    }

    /// Text that nobody means: syntax, controls, halves of quotes, characters of all planes.
    package static func noise(_ random: inout Generator) -> String {
        let pieces = [
            "\"", "*", "-", "(", ")", "OR", "AND", "NOT", "NEAR(", ":", "^", "+", "{", "}", "'", "\\", "\0", " ", "\t",
            "a", "whale",
            "\u{301}", "\u{3099}", "\u{200D}", "\u{202E}", "東", "ก", "\u{1161}", "\u{FFFD}", "👩‍🚀", "\u{10FFFF}", "&",
            "|", "!", "<->", ":*",
        ]
        var result = ""
        for _ in 0..<Int.random(in: 0...10, using: &random) {
            if Int.random(in: 0..<3, using: &random) == 0,
                let scalar = Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &random))
            {
                result.unicodeScalars.append(scalar)
            } else {
                result += pieces.randomElement(using: &random) ?? ""
            }
        }
        return result
    }
}
