/// A word of a text, in the form in which it is compared.
package struct SearchToken: Hashable, Sendable {
    /// The folded word.
    package var text: String
    /// Where it is in the text: offsets of UTF-8 bytes.
    package var range: Range<Int>
    /// What it is.
    package var kind: SearchTokenKind

    package init(text: String, range: Range<Int>, kind: SearchTokenKind = .word) {
        self.text = text
        self.range = range
        self.kind = kind
    }
}

/// What a token is made of.
package enum SearchTokenKind: Hashable, Sendable {
    /// A word, a number, an emoji.
    case word
    /// Two characters that follow each other in a run without spaces.
    case pair
    /// The last character of a run without spaces, which follows the run's pairs.
    case last
    /// What stands between the texts of a list. No query has it.
    case boundary
}

/// Divides texts into words that are compared byte by byte, the same for memory, SQLite and PostgreSQL.
///
/// A word is a run of letters and digits of any script, with their marks. Everything else divides words, also where
/// Unicode's rules would keep them together (`don't`, `example.com`, `snake_case`), because a query's word is divided
/// in the same way and its parts must follow each other. Words are folded: compatibility forms and widths become plain
/// (`Ａ`, `ﬁ`, `ｶﾞ`), case is removed (`ß` is `ss`), diacritics are removed from letters of alphabets (`é`, `й`, `ά`,
/// vowel points), and digits of all scripts are `0` to `9`.
///
/// Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are written without spaces between words, or attach endings
/// to them. A run of such characters becomes its overlapping pairs and its last character: 東京都 is 東京, 京都, 都. Any
/// piece of the run can be found by the pieces' order: one character as a prefix, more as a sequence of pairs.
package struct SearchTokenizer: Hashable, Sendable {
    /// Whether English words lose their endings (`whales` and `whaling` become `whale`'s stem).
    package var stemsEnglish: Bool

    /// Names the rules. An index made by other ones must be made anew.
    package var version: String { stemsEnglish ? "2 english" : "2" }

    /// Several texts as one, in which no phrase reaches from one text into the next.
    package static func joined(_ texts: some Sequence<String>) -> String {
        texts.filter { !$0.isEmpty }.joined(separator: "\u{10FFFF}")
    }

    /// The character between texts: it has no meaning in Unicode, and divides words in texts that have it themselves.
    fileprivate static let boundary: UInt32 = 0x10FFFF

    package init(stemsEnglish: Bool = false) {
        self.stemsEnglish = stemsEnglish
    }

    /// The longest token, in bytes. Longer words are cut there, in texts and in queries.
    package static let longestToken = 240

    /// The words of a text, in its order.
    package func tokens(of text: String) -> [SearchToken] {
        var result: [SearchToken] = []
        forEachToken(of: text) { bytes, range, kind in
            result.append(SearchToken(text: String(decoding: bytes, as: UTF8.self), range: range, kind: kind))
        }
        return result
    }

    /// Calls a closure with each word of a text: its bytes, which are valid during the call, its place, its kind.
    package func forEachToken(
        of text: String, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>, SearchTokenKind) -> Void
    ) {
        var text = text
        text.withUTF8 { utf8 in
            var scan = TokenScan(stemsEnglish: stemsEnglish)
            scan.run(utf8, body)
        }
    }
}

/// The state while a text is divided.
private struct TokenScan {
    let stemsEnglish: Bool
    private var pages = CharacterTable.current
    /// The word that is being read.
    private var word = PartialToken()
    /// The character of a run that is being read, and the one before it.
    private var character = PartialToken()
    private var previous = PartialToken()

    init(stemsEnglish: Bool) {
        self.stemsEnglish = stemsEnglish
    }

    mutating func run(
        _ utf8: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>, SearchTokenKind) -> Void
    ) {
        var place = 0
        while place < utf8.count {
            let byte = utf8[place]
            if byte < 0x80 {
                if !character.isEmpty { endRun(body) }
                let folded = ASCIIFolding.table[Int(byte)]
                if folded == 0 {
                    if !word.isEmpty { endWord(body) }
                } else {
                    word.append(folded, from: place)
                }
                place += 1
                continue
            }
            let (value, length) = Self.decode(utf8, at: place)
            if value == SearchTokenizer.boundary {
                endWord(body)
                endRun(body)
                let range = place..<place + length
                body(UnsafeBufferPointer(rebasing: utf8[range]), range, .boundary)
                place += length
                continue
            }
            let number = Int(value >> 8)
            if pages[number] == nil {
                _ = CharacterTable.page(number)
                pages = CharacterTable.current
            }
            if let page = pages[number] {
                let range = place..<place + length
                page.forEach(Int(value & 0xFF)) { take($0, range, body) }
            }
            place += length
        }
        endWord(body)
        endRun(body)
    }

    private mutating func take(
        _ folded: FoldedCharacter, _ range: Range<Int>,
        _ body: (UnsafeBufferPointer<UInt8>, Range<Int>, SearchTokenKind) -> Void
    ) {
        switch folded.kind {
        case .letter:
            endRun(body)
            word.append(scalar: folded.scalar, range)
        case .separator:
            endWord(body)
            endRun(body)
        case .ignored:
            if !word.isEmpty { word.extend(to: range) } else if !character.isEmpty { character.extend(to: range) }
        case .unspaced:
            endWord(body)
            if character.compose(HangulSyllables.compose, folded.scalar, range) { return }
            endCharacter(body)
            character.append(scalar: folded.scalar, range)
        case .mark:
            if !character.isEmpty {
                if character.compose(KanaMarks.compose, folded.scalar, range) { return }
                character.appendMark(folded.scalar, range)
            } else {
                word.appendMark(folded.scalar, range)
            }
        case .symbol:
            endWord(body)
            endRun(body)
            word.append(scalar: folded.scalar, range)
            endWord(body)
        }
    }

    private mutating func endWord(_ body: (UnsafeBufferPointer<UInt8>, Range<Int>, SearchTokenKind) -> Void) {
        guard !word.isEmpty else { return }
        if stemsEnglish { EnglishStemming.stem(&word.bytes) }
        word.bytes.withUnsafeBufferPointer { body($0, word.range, .word) }
        word.removeAll()
    }

    /// Ends a character of a run: with the one before it, it is a pair.
    private mutating func endCharacter(_ body: (UnsafeBufferPointer<UInt8>, Range<Int>, SearchTokenKind) -> Void) {
        guard !character.isEmpty else { return }
        if !previous.isEmpty {
            previous.bytes += character.bytes
            let range = previous.range.lowerBound..<character.range.upperBound
            previous.bytes.withUnsafeBufferPointer { body($0, range, .pair) }
        }
        swap(&previous, &character)
        character.removeAll()
    }

    private mutating func endRun(_ body: (UnsafeBufferPointer<UInt8>, Range<Int>, SearchTokenKind) -> Void) {
        guard !character.isEmpty else { return }
        endCharacter(body)
        previous.bytes.withUnsafeBufferPointer { body($0, previous.range, .last) }
        previous.removeAll()
    }

    /// A scalar of several bytes, which a string's UTF-8 always has whole.
    @inline(__always)
    private static func decode(_ utf8: UnsafeBufferPointer<UInt8>, at place: Int) -> (UInt32, Int) {
        let first = UInt32(utf8[place])
        let second = UInt32(utf8[place + 1]) & 0x3F
        if first < 0xE0 { return ((first & 0x1F) << 6 | second, 2) }
        let third = UInt32(utf8[place + 2]) & 0x3F
        if first < 0xF0 { return ((first & 0xF) << 12 | second << 6 | third, 3) }
        return ((first & 0x7) << 18 | second << 12 | third << 6 | UInt32(utf8[place + 3]) & 0x3F, 4)
    }
}

/// A word or a character of a run, as far as it was read.
private struct PartialToken {
    var bytes: [UInt8] = []
    private var start = 0
    private var end = 0
    private var lastScalar: UInt32 = 0
    /// The combining class of the last scalar; marks are kept in the order of their classes.
    private var lastClass: UInt8 = 0

    var isEmpty: Bool { bytes.isEmpty }
    var range: Range<Int> { start..<end }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        lastClass = 0
        lastScalar = 0
    }

    mutating func extend(to range: Range<Int>) { end = range.upperBound }

    @inline(__always)
    mutating func append(_ byte: UInt8, from place: Int) {
        if bytes.isEmpty { start = place }
        end = place + 1
        lastClass = 0
        if bytes.count <= SearchTokenizer.longestToken - 4 { bytes.append(byte) }
    }

    mutating func append(scalar: UInt32, _ range: Range<Int>) {
        if bytes.isEmpty { start = range.lowerBound }
        end = range.upperBound
        lastScalar = scalar
        lastClass = 0
        guard bytes.count <= SearchTokenizer.longestToken - 4 else { return }
        Self.encode(scalar) { bytes.append($0) }
    }

    /// Appends a mark where canonical order has it.
    mutating func appendMark(_ mark: UInt32, _ range: Range<Int>) {
        let order = Self.combiningClass(mark)
        guard order > 0, lastClass > order, bytes.count <= SearchTokenizer.longestToken - 4 else {
            append(scalar: mark, range)
            lastClass = order
            return
        }
        var scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
        var place = scalars.count
        while place > 0, Self.combiningClass(scalars[place - 1].value) > order { place -= 1 }
        if let scalar = Unicode.Scalar(mark) { scalars.insert(scalar, at: place) }
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        bytes = Array(String(text).utf8)
        end = range.upperBound
    }

    /// Replaces the last scalar by its composition with another one.
    ///
    /// - Returns: false if they have none.
    mutating func compose(
        _ composition: (UInt32, UInt32) -> UInt32?, _ scalar: UInt32, _ range: Range<Int>
    ) -> Bool {
        guard !bytes.isEmpty, let composed = composition(lastScalar, scalar) else { return false }
        // What composes has three bytes, before and after.
        bytes.removeLast(3)
        Self.encode(composed) { bytes.append($0) }
        lastScalar = composed
        lastClass = 0
        end = range.upperBound
        return true
    }

    private static func combiningClass(_ scalar: UInt32) -> UInt8 {
        Unicode.Scalar(scalar)?.properties.canonicalCombiningClass.rawValue ?? 0
    }

    @inline(__always)
    private static func encode(_ scalar: UInt32, _ append: (UInt8) -> Void) {
        switch scalar {
        case 0..<0x80: append(UInt8(scalar))
        case 0x80..<0x800:
            append(UInt8(0xC0 | scalar >> 6))
            append(UInt8(0x80 | scalar & 0x3F))
        case 0x800..<0x10000:
            append(UInt8(0xE0 | scalar >> 12))
            append(UInt8(0x80 | scalar >> 6 & 0x3F))
            append(UInt8(0x80 | scalar & 0x3F))
        default:
            append(UInt8(0xF0 | scalar >> 18))
            append(UInt8(0x80 | scalar >> 12 & 0x3F))
            append(UInt8(0x80 | scalar >> 6 & 0x3F))
            append(UInt8(0x80 | scalar & 0x3F))
        }
    }
}

/// ASCII's letters and digits in small letters; 0 for what divides words.
private enum ASCIIFolding {
    static let table: [UInt8] = (UInt8(0)..<128).map { byte in
        switch byte {
        case 0x30...0x39, 0x61...0x7A: byte
        case 0x41...0x5A: byte + 32
        default: 0
        }
    }
}
