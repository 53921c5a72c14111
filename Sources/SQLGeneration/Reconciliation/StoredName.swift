import Foundation

/// How names in a store resemble those that the rules give, from the nearest to the most distant.
enum StoredName {
    /// What SQLite holds to be one name: capitals and small ones of ASCII are the same. Letters with marks are, too, however they
    /// are composed, which SQLite keeps apart: the file's spelling is used.
    static func key(_ name: String) -> String { name.uppercased() }

    /// The same without regard to marks on letters, and what else one system's capitals may have that another's have not.
    static func looseKey(_ name: String) -> String {
        name.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil).uppercased()
            .replacingOccurrences(of: "ß", with: "SS").replacingOccurrences(of: "ı", with: "I")
    }

    /// Whether a name is a stem, or a stem with a number that tells it from others.
    static func isNumbered(_ name: String, stem: String) -> Bool {
        name.hasPrefix(stem) && name.dropFirst(stem.count).allSatisfy { $0.isASCII && $0.isNumber }
    }

    /// Whether a name is what a longer one was cut to, perhaps with a number after it. Short ones say nothing.
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
