/// Removes the endings of English words: Porter's algorithm of 1980. Pure.
enum EnglishStemming {
    /// Stems a word of small ASCII letters; others, and words of less than three letters, stay as they are.
    static func stem(_ word: inout [UInt8]) {
        guard word.count > 2, word.allSatisfy({ 0x61...0x7A ~= $0 }) else { return }
        var stem = PorterWord(letters: word)
        stem.removePlural()
        stem.removePastTense()
        stem.replaceFinalY()
        stem.replaceLongest(PorterWord.doubleSuffixes, measure: 1)
        stem.replaceLongest(PorterWord.shortSuffixes, measure: 1)
        stem.removeLongest(PorterWord.lastSuffixes)
        stem.removeFinalE()
        word = stem.letters
    }
}

/// A word with Porter's measures of it.
private struct PorterWord {
    var letters: [UInt8]

    static let doubleSuffixes: [([UInt8], [UInt8])] = pairs(
        "ational ate", "tional tion", "enci ence", "anci ance", "izer ize", "abli able", "alli al", "entli ent",
        "eli e", "ousli ous", "ization ize", "ation ate", "ator ate", "alism al", "iveness ive", "fulness ful",
        "ousness ous", "aliti al", "iviti ive", "biliti ble")
    static let shortSuffixes: [([UInt8], [UInt8])] = pairs(
        "icate ic", "ative ", "alize al", "iciti ic", "ical ic", "ful ", "ness ")
    static let lastSuffixes: [[UInt8]] = [
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate",
        "iti", "ous", "ive", "ize",
    ].map { Array($0.utf8) }

    private static func pairs(_ texts: String...) -> [([UInt8], [UInt8])] {
        texts.map { text in
            let parts = text.split(separator: " ", omittingEmptySubsequences: false)
            return (Array(parts[0].utf8), Array(parts[1].utf8))
        }
    }

    private func isConsonant(_ place: Int) -> Bool {
        switch letters[place] {
        case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "i"), UInt8(ascii: "o"), UInt8(ascii: "u"): false
        case UInt8(ascii: "y"): place == 0 || !isConsonant(place - 1)
        default: true
        }
    }

    /// How many sequences of a vowel and a consonant the first letters have.
    private func measure(_ count: Int) -> Int {
        var result = 0
        var wasVowel = false
        var isConsonant = false
        for place in 0..<count {
            // The same as the function above, without going back through a run of y.
            switch letters[place] {
            case UInt8(ascii: "a"), UInt8(ascii: "e"), UInt8(ascii: "i"), UInt8(ascii: "o"), UInt8(ascii: "u"):
                isConsonant = false
            case UInt8(ascii: "y"): isConsonant = place == 0 || !isConsonant
            default: isConsonant = true
            }
            if isConsonant, wasVowel { result += 1 }
            wasVowel = !isConsonant
        }
        return result
    }

    private func hasVowel(_ count: Int) -> Bool {
        for place in 0..<count where !isConsonant(place) { return true }
        return false
    }

    private func ends(_ suffix: [UInt8]) -> Bool {
        letters.count >= suffix.count && letters.suffix(suffix.count).elementsEqual(suffix)
    }
    private func ends(_ suffix: StaticString) -> Bool {
        let count = suffix.utf8CodeUnitCount
        guard letters.count >= count else { return false }
        let bytes = UnsafeBufferPointer(start: suffix.utf8Start, count: count)
        return letters.suffix(count).elementsEqual(bytes)
    }

    /// Whether the first letters end in one consonant twice.
    private var endsInDouble: Bool {
        let count = letters.count
        return count > 1 && letters[count - 1] == letters[count - 2] && isConsonant(count - 1)
    }

    /// Whether the first letters end in consonant, vowel, consonant, and the last one is not w, x or y.
    private func endsShort(_ count: Int) -> Bool {
        guard count > 2, isConsonant(count - 1), !isConsonant(count - 2), isConsonant(count - 3) else { return false }
        return ![UInt8(ascii: "w"), UInt8(ascii: "x"), UInt8(ascii: "y")].contains(letters[count - 1])
    }

    mutating func removePlural() {
        if ends("sses") || ends("ies") {
            letters.removeLast(2)
        } else if ends("s"), !ends("ss") {
            letters.removeLast()
        }
    }

    mutating func removePastTense() {
        if ends("eed") {
            if measure(letters.count - 3) > 0 { letters.removeLast() }
            return
        }
        if ends("ed"), hasVowel(letters.count - 2) {
            letters.removeLast(2)
        } else if ends("ing"), hasVowel(letters.count - 3) {
            letters.removeLast(3)
        } else {
            return
        }
        if ends("at") || ends("bl") || ends("iz") {
            letters.append(UInt8(ascii: "e"))
        } else if endsInDouble, !ends("l"), !ends("s"), !ends("z") {
            letters.removeLast()
        } else if measure(letters.count) == 1, endsShort(letters.count) {
            letters.append(UInt8(ascii: "e"))
        }
    }

    mutating func replaceFinalY() {
        if ends("y"), hasVowel(letters.count - 1) { letters[letters.count - 1] = UInt8(ascii: "i") }
    }

    /// Replaces the longest suffix of a list that the word has, if what is before it has more than the measure.
    mutating func replaceLongest(_ suffixes: [([UInt8], [UInt8])], measure least: Int) {
        let fitting = suffixes.filter { ends($0.0) }
        guard let (suffix, replacement) = fitting.max(by: { $0.0.count < $1.0.count }) else { return }
        guard measure(letters.count - suffix.count) >= least else { return }
        letters.removeLast(suffix.count)
        letters += replacement
    }

    mutating func removeLongest(_ suffixes: [[UInt8]]) {
        guard let suffix = suffixes.filter({ ends($0) }).max(by: { $0.count < $1.count }) else { return }
        let rest = letters.count - suffix.count
        guard measure(rest) > 1 else { return }
        if ends("ion"), rest == 0 || ![UInt8(ascii: "s"), UInt8(ascii: "t")].contains(letters[rest - 1]) { return }
        letters.removeLast(suffix.count)
    }

    mutating func removeFinalE() {
        if ends("e") {
            let rest = letters.count - 1
            if measure(rest) > 1 || measure(rest) == 1 && !endsShort(rest) { letters.removeLast() }
        }
        if ends("ll"), measure(letters.count) > 1 { letters.removeLast() }
    }
}
