import CompactCollections
import Foundation

/// How names in a store resemble those by the rules, from the closest to the most distant resemblance.
enum StoredName {
    /// A key that is equal for names that SQLite takes for one, which ignores the case of ASCII letters. The key also
    /// ignores the case and composition of letters with marks, which SQLite distinguishes; the file's spelling is used.
    static func key(_ name: String) -> String { name.uppercased() }

    /// The same without marks on letters, and without other differences between the uppercasing of different systems.
    static func looseKey(_ name: String) -> String {
        name.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil).uppercased()
            .replacingOccurrences(of: "ß", with: "SS").replacingOccurrences(of: "ı", with: "I")
    }

    /// Whether a name is a stem, possibly with a number that distinguishes it from others.
    static func isNumbered(_ name: String, stem: String) -> Bool {
        name.hasPrefix(stem) && name.dropFirst(stem.count).allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// Whether a name is a truncated form of a longer one, possibly followed by a number. Short names do not count.
    static func isTruncation(_ name: String, of long: String) -> Bool {
        let cut = unnumbered(name)
        return cut.count >= shortestTruncation && cut.count < long.count && long.hasPrefix(cut)
    }

    private static let shortestTruncation = 12

    /// The name without digits at its end.
    static func unnumbered(_ name: String) -> String {
        var end = name.endIndex
        while end > name.startIndex, let last = name[..<end].last, last.isASCII, last.isNumber {
            end = name.index(before: end)
        }
        return String(name[..<end])
    }

    /// The number and the rest of a name such as `Z_17PEOPLE`, after a prefix.
    static func numbered(_ name: String, prefix: String) -> (number: Int, rest: String)? {
        guard name.hasPrefix(prefix) else { return nil }
        let tail = name.dropFirst(prefix.count)
        let digits = tail.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), digits.count < tail.count else { return nil }
        return (number, String(tail.dropFirst(digits.count)))
    }
}
