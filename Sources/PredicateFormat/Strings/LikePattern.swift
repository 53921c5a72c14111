import Synchronization

/// The right side of `LIKE`: `?` is any one character, `*` any number of them, and a backslash before either makes it a
/// literal character.
package struct LikePattern: Sendable {
    /// The pattern's bytes; larger numbers are its special signs.
    private var elements: ContiguousArray<UInt16> = []
    private let options: StringOptions

    private static let one: UInt16 = 256
    private static let many: UInt16 = 257

    package init(_ pattern: String, options: StringOptions) {
        self.options = options
        var isEscaped = false
        for byte in pattern.folded(options).utf8 {
            if isEscaped {
                elements.append(UInt16(byte))
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "?") {
                elements.append(Self.one)
            } else if byte != UInt8(ascii: "*") {
                elements.append(UInt16(byte))
            } else if elements.last != Self.many {
                elements.append(Self.many)
            }
        }
        if isEscaped { elements.append(UInt16(UInt8(ascii: "\\"))) }
    }

    private static let cache = PatternCache<LikePattern>()

    /// The pattern, made once while it is used repeatedly.
    package static func cached(_ pattern: String, options: StringOptions) -> LikePattern {
        cache.pattern(pattern, options) { LikePattern($0, options: $1) } ?? LikePattern(pattern, options: options)
    }

    /// Whether the whole string matches the pattern.
    package func matches(_ string: String) -> Bool {
        let text = options.isEmpty ? string : string.folded(options)
        if let result = text.utf8.withContiguousStorageIfAvailable({ matches($0) }) { return result }
        return Array(text.utf8).withUnsafeBufferPointer { matches($0) }
    }

    private func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        elements.withUnsafeBufferPointer { elements in
            var position = 0
            var element = 0
            // Where to continue if a later element does not match: the last `*` then takes one more character.
            var retryElement = -1
            var retryPosition = 0
            while position < text.count {
                if element < elements.count {
                    let wanted = elements[element]
                    if wanted == UInt16(text[position]) {
                        element += 1
                        position += 1
                        continue
                    }
                    if wanted == Self.many {
                        element += 1
                        (retryElement, retryPosition) = (element, position)
                        continue
                    }
                    if wanted == Self.one {
                        element += 1
                        position += Self.length(of: text[position])
                        continue
                    }
                }
                guard retryElement >= 0 else { return false }
                element = retryElement
                retryPosition += Self.length(of: text[retryPosition])
                position = retryPosition
            }
            return elements[element...].allSatisfy { $0 == Self.many }
        }
    }

    /// The number of bytes in the character that begins with this one; Swift's strings are valid UTF-8.
    @inline(__always)
    private static func length(of lead: UInt8) -> Int {
        lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4
    }
}

/// Caches the most recently used patterns, which are usually used again for the next row.
final class PatternCache<Pattern: Sendable>: Sendable {
    private struct Key: Hashable {
        let pattern: LiteralString
        let options: StringOptions
    }

    private let patterns = Mutex<[Key: Pattern]>([:])
    private let limit = 100

    func pattern(
        _ pattern: String, _ options: StringOptions, _ make: (String, StringOptions) -> Pattern?
    ) -> Pattern? {
        let key = Key(pattern: LiteralString(pattern), options: options)
        if let found = patterns.withLock({ $0[key] }) { return found }
        guard let made = make(pattern, options) else { return nil }
        patterns.withLock { patterns in
            if patterns.count >= limit { patterns.removeAll() }
            patterns[key] = made
        }
        return made
    }
}

/// A string as a key that only equals another with the same bytes. Swift's own `==` would find the predicate for "é"
/// when asked for an "e" followed by an accent.
struct LiteralString: Hashable, Sendable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    static func == (first: LiteralString, second: LiteralString) -> Bool {
        first.string.isLiterallyEqual(to: second.string)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(string)
    }
}
