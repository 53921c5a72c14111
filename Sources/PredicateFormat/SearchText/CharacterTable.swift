import Foundation
import Synchronization

/// What the tokenizer does with one character after folding.
enum CharacterKind: UInt8 {
    /// Ends a word: spaces, punctuation, controls.
    case separator
    /// Is left out: diacritics, and characters that are not visible.
    case ignored
    /// Part of a word: letters and digits.
    case letter
    /// Belongs to the character before it: vowel signs, tone marks, viramas.
    case mark
    /// Part of a run without spaces between words: Han, kana, Hangul, Thai, Lao, Khmer, Burmese.
    case unspaced
    /// A token of its own: an emoji.
    case symbol
}

/// A folded character: one or several scalars, each with its kind.
struct FoldedCharacter {
    var scalar: UInt32
    var kind: CharacterKind
}

/// The folded forms of 256 consecutive scalars, found once in Unicode's data.
final class CharacterPage: Sendable {
    /// For each scalar, the bounds of its folded form in ``folded``.
    private let ends: [UInt16]
    private let folded: [FoldedCharacter]

    init(_ number: Int) {
        var ends: [UInt16] = [0]
        var folded: [FoldedCharacter] = []
        for value in UInt32(number * 256)..<UInt32(number * 256 + 256) {
            if let scalar = Unicode.Scalar(value) { folded += CharacterFolding.fold(scalar) }
            ends.append(UInt16(folded.count))
        }
        self.ends = ends
        self.folded = folded
    }

    /// Calls a closure with each scalar of a folded form.
    @inline(__always)
    func forEach(_ low: Int, _ body: (FoldedCharacter) -> Void) {
        var place = Int(ends[low])
        let end = Int(ends[low + 1])
        while place < end {
            body(folded[place])
            place += 1
        }
    }
}

/// The pages of all characters that were met so far in this process.
enum CharacterTable {
    private static let pages = Mutex<[CharacterPage?]>(Array(repeating: nil, count: 0x1100))

    /// The pages as they are now. A reader that misses one asks for it, and takes the pages anew.
    static var current: [CharacterPage?] { pages.withLock { $0 } }

    static func page(_ number: Int) -> CharacterPage {
        if let page = pages.withLock({ $0[number] }) { return page }
        let page = CharacterPage(number)
        pages.withLock { $0[number] = page }
        return page
    }
}

/// The rules of folding: compatibility decomposition (which folds width), case, diacritics. Pure.
enum CharacterFolding {
    static func fold(_ scalar: Unicode.Scalar) -> [FoldedCharacter] {
        if keepsItsForm(scalar) { return [FoldedCharacter(scalar: scalar.value, kind: kind(of: scalar))] }
        var scalars = [scalar]
        // Twice: letters that only exist after the other case decompose again.
        for _ in 0..<2 {
            scalars = scalars.flatMap(decompose).filter { !isDiacritic($0) }.flatMap(foldCase)
        }
        scalars = scalars.flatMap(decompose).filter { !isDiacritic($0) }
        if scalars.isEmpty { return [FoldedCharacter(scalar: scalar.value, kind: .ignored)] }
        return scalars.map { FoldedCharacter(scalar: $0.value, kind: kind(of: $0)) }
    }

    /// Whether a scalar is composed in tokens: syllables of Hangul, and kana with their sound marks.
    private static func keepsItsForm(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0xAC00...0xD7A3, 0x3041...0x3096, 0x3099...0x309A, 0x309D...0x309E, 0x30A1...0x30FA, 0x30FC...0x30FE: true
        default: false
        }
    }

    private static func decompose(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        if scalar.isASCII || keepsItsForm(scalar) { return [scalar] }
        let decomposed = Array(String(scalar).decomposedStringWithCompatibilityMapping.unicodeScalars)
        // Kana whose compatibility form has a sound mark are composed as the others are.
        var result: [Unicode.Scalar] = []
        for part in decomposed {
            if let last = result.last, let composed = KanaMarks.compose(last.value, part.value),
                let scalar = Unicode.Scalar(composed)
            {
                result[result.count - 1] = scalar
            } else {
                result.append(part)
            }
        }
        return result
    }

    /// Case folding by way of capitals, which joins ß and ss, ς and σ, ſ and s; letters that Unicode does not decompose
    /// become their plain forms.
    private static func foldCase(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        switch scalar.value {
        case 0xF8, 0xD8: return ["o"]
        case 0x110, 0x111, 0xD0, 0xF0: return ["d"]
        case 0x141, 0x142: return ["l"]
        case 0x126, 0x127: return ["h"]
        case 0x166, 0x167: return ["t"]
        case 0x131: return ["i"]
        case 0xC6, 0xE6: return ["a", "e"]
        case 0x152, 0x153: return ["o", "e"]
        case 0xDE, 0xFE: return ["t", "h"]
        default:
            let properties = scalar.properties
            if properties.generalCategory == .decimalNumber, let value = properties.numericValue,
                let digit = Unicode.Scalar(UInt32(value) + 0x30)
            {
                return [digit]
            }
            return properties.uppercaseMapping.unicodeScalars.flatMap {
                Array($0.properties.lowercaseMapping.unicodeScalars)
            }
        }
    }

    /// Marks that only vary a letter. Vowel signs and tone marks of other scripts are parts of words.
    private static func isDiacritic(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0300...0x036F, 0x0483...0x0489, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F:
            true
        case 0x0591...0x05BD, 0x05BF, 0x05C1...0x05C2, 0x05C4...0x05C5, 0x05C7: true
        case 0x0610...0x061A, 0x0640, 0x064B...0x065F, 0x0670, 0x06D6...0x06DC, 0x06DF...0x06E4, 0x06E7...0x06E8,
            0x06EA...0x06ED, 0x08D3...0x08E1, 0x08E3...0x08FF:
            true
        case 0x0711, 0x0730...0x074A: true
        default: false
        }
    }

    private static func kind(of scalar: Unicode.Scalar) -> CharacterKind {
        switch scalar.value {
        // Apostrophes among the modifier letters; other ones divide words, too.
        case 0x02BB...0x02BD: return .separator
        case 0x02B9...0x02BA, 0x02BE...0x02DF, 0x02E5...0x02FF: return .ignored
        // The space without width divides words in Thai and Khmer.
        case 0x200B: return .separator
        case 0x3005...0x3007, 0x303B...0x303C, 0x3041...0x3096, 0x309D...0x309F, 0x30A1...0x30FA, 0x30FC...0x30FF,
            0x3105...0x312F, 0x31A0...0x31BF, 0x31F0...0x31FF:
            return .unspaced
        case 0x3099...0x309A: return .mark
        case 0xAC00...0xD7A3, 0x1100...0x11FF, 0xA960...0xA97C, 0xD7B0...0xD7FB: return .unspaced
        default: break
        }
        let properties = scalar.properties
        if properties.isIdeographic { return .unspaced }
        switch properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter:
            return hasNoSpaces(scalar) ? .unspaced : .letter
        case .decimalNumber, .letterNumber, .otherNumber, .privateUse: return .letter
        case .nonspacingMark, .spacingMark: return properties.isVariationSelector ? .ignored : .mark
        case .enclosingMark, .format, .surrogate: return .ignored
        case .otherSymbol: return properties.isEmoji ? .symbol : .separator
        case .modifierSymbol: return properties.isEmojiModifier ? .ignored : .separator
        default: return .separator
        }
    }

    /// Scripts of South-East Asia that divide sentences by spaces, not words.
    private static func hasNoSpaces(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0E00...0x0EFF, 0x1000...0x109F, 0x1780...0x17FF, 0xA9E0...0xA9FF, 0xAA60...0xAA7F: true
        default: false
        }
    }
}

/// Kana with sound marks, composed. Pure.
enum KanaMarks {
    private static let composed: [UInt64: UInt32] = {
        var result: [UInt64: UInt32] = [:]
        for value in UInt32(0x3041)...0x30FF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let parts = Array(String(scalar).decomposedStringWithCanonicalMapping.unicodeScalars)
            guard parts.count == 2 else { continue }
            result[UInt64(parts[0].value) << 32 | UInt64(parts[1].value)] = value
        }
        return result
    }()

    static func compose(_ base: UInt32, _ mark: UInt32) -> UInt32? {
        guard mark == 0x3099 || mark == 0x309A else { return nil }
        return composed[UInt64(base) << 32 | UInt64(mark)]
    }
}

/// Syllables of Hangul, composed from their letters by Unicode's arithmetic. Pure.
enum HangulSyllables {
    static func compose(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if 0x1100...0x1112 ~= first, 0x1161...0x1175 ~= second {
            return 0xAC00 + ((first - 0x1100) * 21 + (second - 0x1161)) * 28
        }
        if 0xAC00...0xD7A3 ~= first, (first - 0xAC00) % 28 == 0, 0x11A8...0x11C2 ~= second {
            return first + (second - 0x11A7)
        }
        return nil
    }
}
