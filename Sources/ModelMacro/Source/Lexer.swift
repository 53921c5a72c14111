/// Splits Swift source into tokens, without comments.
///
/// It knows only as much of the language as finding the properties of a type requires: matching brackets, and the ends
/// of strings. A string with its interpolations is one literal.
package struct Lexer {
    private let bytes: [UInt8]
    private var place = 0
    private var startsLine = true

    /// - Parameter source: a declaration, as a compiler hands it out.
    /// - Returns: its tokens, in order.
    package static func tokens(of source: String) -> [Token] {
        var lexer = Lexer(bytes: Array(source.utf8))
        var tokens: [Token] = []
        while let token = lexer.next() { tokens.append(token) }
        return tokens
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func next() -> Token? {
        skipBlanks()
        guard place < bytes.count else { return nil }
        let (start, starts) = (place, startsLine)
        startsLine = false
        let kind = take()
        var text = String(decoding: bytes[start..<place], as: UTF8.self)
        if kind == .name(isQuoted: true) { text = String(text.dropFirst().dropLast()) }
        return Token(kind: kind, text: text, startsLine: starts, offset: start)
    }

    private mutating func take() -> Token.Kind {
        let byte = bytes[place]
        if byte == UInt8(ascii: "`") {
            place += 1
            skip { $0 != UInt8(ascii: "`") }
            place = min(place + 1, bytes.count)
            return .name(isQuoted: true)
        }
        if byte == UInt8(ascii: "\"") || isRawString() {
            takeString()
            return .literal
        }
        if let end = endOfRegularExpression() {
            place = end
            return .literal
        }
        if Self.isDigit(byte) {
            skip { Self.isWord($0) }
            return .literal
        }
        if Self.isWord(byte) {
            skip { Self.isWord($0) }
            return .name(isQuoted: false)
        }
        place += byte == UInt8(ascii: "-") && peek(1) == UInt8(ascii: ">") ? 2 : 1
        return .sign
    }

    // MARK: Blanks and comments

    private mutating func skipBlanks() {
        while place < bytes.count {
            switch (bytes[place], peek(1)) {
            case (UInt8(ascii: "\n"), _), (UInt8(ascii: "\r"), _):
                startsLine = true
                place += 1
            case (UInt8(ascii: " "), _), (UInt8(ascii: "\t"), _), (0x0B...0x0C, _): place += 1
            case (UInt8(ascii: "/"), UInt8(ascii: "/")): skip { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
            case (UInt8(ascii: "/"), UInt8(ascii: "*")): skipBlockComment()
            default: return
            }
        }
    }

    /// Comments nest.
    private mutating func skipBlockComment() {
        var depth = 0
        while place < bytes.count {
            if bytes[place] == UInt8(ascii: "\n") { startsLine = true }
            switch (bytes[place], peek(1)) {
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                depth += 1
                place += 2
            case (UInt8(ascii: "*"), UInt8(ascii: "/")):
                depth -= 1
                place += 2
                if depth == 0 { return }
            default: place += 1
            }
        }
    }

    // MARK: Strings

    private func isRawString() -> Bool {
        var next = place
        while next < bytes.count, bytes[next] == UInt8(ascii: "#") { next += 1 }
        return next > place && next < bytes.count && bytes[next] == UInt8(ascii: "\"")
    }

    /// Skips a string of one or several lines, with or without number signs around it, with its interpolations.
    private mutating func takeString() {
        let signs = taken(UInt8(ascii: "#"), atMost: .max)
        let start = place
        var quotes = taken(UInt8(ascii: "\""), atMost: 3)
        // Two quotation marks are an empty string, unless the number signs that must follow are missing.
        if quotes == 2, hasSigns(signs, at: place) { return place += signs }
        if quotes < 3 || signs > 0 && !isAtEndOfLine(place) {
            quotes = 1
            place = start + 1
        }
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\\"):
                place += 1
                guard taken(UInt8(ascii: "#"), atMost: signs) == signs, place < bytes.count else { continue }
                if bytes[place] == UInt8(ascii: "(") { skipInterpolation() } else { place += 1 }
            case UInt8(ascii: "\""):
                if taken(UInt8(ascii: "\""), atMost: quotes) == quotes,
                    taken(UInt8(ascii: "#"), atMost: signs) == signs
                {
                    return
                }
            default: place += 1
            }
        }
    }

    /// Skips the parentheses of an interpolation, with the strings in it.
    private mutating func skipInterpolation() {
        var depth = 0
        repeat {
            guard let token = next() else { return }
            if token.isSign("(") { depth += 1 }
            if token.isSign(")") { depth -= 1 }
        } while depth > 0
    }

    // MARK: Regular expressions

    /// The end of a regular-expression literal that begins here; nil if none does. A bare `/` begins one only where a
    /// prefix operator could stand, and not if the literal would close a parenthesis that was opened before it.
    private func endOfRegularExpression() -> Int? {
        var next = place
        while next < bytes.count, bytes[next] == UInt8(ascii: "#") { next += 1 }
        let signs = next - place
        guard next < bytes.count, bytes[next] == UInt8(ascii: "/"), signs > 0 || isPrefix else { return nil }
        next += 1
        let isMultiline = signs > 0 && isAtEndOfLine(next)
        var (groups, sets) = (0, 0)
        while next < bytes.count {
            switch bytes[next] {
            case UInt8(ascii: "["): sets += 1
            case UInt8(ascii: "]"): sets = max(0, sets - 1)
            case UInt8(ascii: "(") where sets == 0: groups += 1
            case UInt8(ascii: ")") where sets == 0 && signs == 0:
                groups -= 1
                if groups < 0 { return nil }
            default: break
            }
            switch bytes[next] {
            case UInt8(ascii: "\\"): next += 2
            case UInt8(ascii: "\n") where !isMultiline: return nil
            case UInt8(ascii: "/") where hasSigns(signs, at: next + 1): return next + 1 + signs
            default: next += 1
            }
        }
        return nil
    }

    /// Whether a prefix operator could stand here: after a blank or an opening sign, and not before a blank.
    private var isPrefix: Bool {
        let before = place == 0 ? UInt8(ascii: " ") : bytes[place - 1]
        return " \t\n\r([{,;:!".utf8.contains(before) && peek(1).map { !" \t\n\r".utf8.contains($0) } ?? false
    }

    // MARK: Bytes

    private func hasSigns(_ count: Int, at start: Int) -> Bool {
        start + count <= bytes.count && bytes[start..<start + count].allSatisfy { $0 == UInt8(ascii: "#") }
    }

    private func isAtEndOfLine(_ start: Int) -> Bool {
        let rest = bytes[min(start, bytes.count)...].prefix { $0 != UInt8(ascii: "\n") }
        return rest.allSatisfy { " \t\r".utf8.contains($0) }
    }

    private func peek(_ distance: Int) -> UInt8? {
        bytes.indices.contains(place + distance) ? bytes[place + distance] : nil
    }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while place < bytes.count, condition(bytes[place]) { place += 1 }
    }

    /// Skips repetitions of a byte, and returns their number.
    private mutating func taken(_ byte: UInt8, atMost limit: Int) -> Int {
        let start = place
        while place < bytes.count, bytes[place] == byte, place - start < limit { place += 1 }
        return place - start
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Whether a byte can be in an identifier: letters, digits, underscores, and all that is not ASCII.
    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "$"), 0x80...:
            true
        default: isDigit(byte)
        }
    }
}
