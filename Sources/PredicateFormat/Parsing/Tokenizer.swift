import Foundation

/// Splits a format string into tokens, one at a time, in one pass over its bytes.
struct Tokenizer {
    private let format: String
    private let bytes: [UInt8]
    private(set) var position = 0
    /// Where the token that ``next()`` last returned begins.
    private(set) var tokenStart = 0

    init(_ format: String) {
        self.format = format
        bytes = Array(format.utf8)
    }

    /// The next token; at the end it is always ``Token/end``.
    mutating func next() throws(PredicateFormatError) -> Token {
        while let byte = peek(), byte == 0x20 || (byte >= 0x09 && byte <= 0x0D) { position += 1 }
        tokenStart = position
        guard let byte = peek() else { return .end }
        if let uuid = uuid() { return .constant(.uuid(uuid)) }
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        case UInt8(ascii: ".") where isDigit(peek(1)): return .number(try number())
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return .string(try string(quote: byte))
        case UInt8(ascii: "%"): return try placeholder()
        case UInt8(ascii: "$"):
            position += 1
            return .variable(try word("the name of a variable after \"$\""))
        case UInt8(ascii: "@"):
            position += 1
            return .collectionOperator("@" + (try word("the name of a collection operator after \"@\"")))
        case UInt8(ascii: "#"):
            position += 1
            if peek() == UInt8(ascii: "\"") { return .key(try string(quote: UInt8(ascii: "\""))) }
            return .key(try word("a key after \"#\""))
        case _ where isWordStart(byte):
            let word = try word("a key")
            return Keyword(word: word).map { .keyword($0, word) } ?? .key(word)
        default: return .symbol(try symbol())
        }
    }

    /// Whether a variable comes next.
    var isAtVariable: Bool { peek() == UInt8(ascii: "$") }

    /// The text of the token that was read last, for error messages.
    var tokenText: String {
        let text = bytes[min(tokenStart, position)..<position]
        let prefix = String(decoding: text.prefix(40), as: UTF8.self)
        return text.count > 40 ? prefix + "…" : prefix
    }

    func error(_ reason: String, at offset: Int) -> PredicateFormatError {
        PredicateFormatError(format: format, byteOffset: offset, reason: reason)
    }

    // MARK: Words

    private mutating func word(_ expected: String) throws(PredicateFormatError) -> String {
        let start = position
        guard let first = peek(), isWordStart(first) else {
            throw error("expected \(expected)", at: position)
        }
        while let byte = peek(), isWordStart(byte) || isDigit(byte) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private func isWordStart(_ byte: UInt8) -> Bool {
        (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "z") || byte == UInt8(ascii: "_")
            || byte >= 0x80
    }

    private func isDigit(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private func peek(_ distance: Int = 0) -> UInt8? {
        position + distance < bytes.count ? bytes[position + distance] : nil
    }

    // MARK: UUIDs

    /// A UUID by its digits, as predicates print it: `E621E1F8-C36C-495A-93FC-0C247A3E6E5F`. A difference of keys and
    /// numbers could look the same, but is printed with spaces.
    private mutating func uuid() -> UUID? {
        let end = position + 36
        guard end <= bytes.count, peek(8) == UInt8(ascii: "-"),
            end == bytes.count || !(isWordStart(bytes[end]) || isDigit(bytes[end])),
            bytes[position..<end].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
                .map({ $0.allSatisfy(isHexadecimal) ? $0.count : 0 }) == [8, 4, 4, 4, 12],
            let uuid = UUID(uuidString: String(decoding: bytes[position..<end], as: UTF8.self))
        else { return nil }
        position = end
        return uuid
    }

    private func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20) >= UInt8(ascii: "a") && (byte | 0x20) <= UInt8(ascii: "f")
    }

    // MARK: Numbers

    private mutating func number() throws(PredicateFormatError) -> Value {
        let start = position
        if peek() == UInt8(ascii: "0"), let radix = radix(of: peek(1)) {
            position += 2
            return try integer(radix: radix, from: start)
        }
        skipDigits()
        var isInteger = true
        if peek() == UInt8(ascii: "."), isDigit(peek(1)) {
            isInteger = false
            position += 1
            skipDigits()
        }
        if let exponent = peek(), exponent | 0x20 == UInt8(ascii: "e") {
            let signed = peek(1) == UInt8(ascii: "-") || peek(1) == UInt8(ascii: "+")
            if isDigit(peek(signed ? 2 : 1)) {
                isInteger = false
                position += signed ? 2 : 1
                skipDigits()
            }
        }
        try endNumber(from: start)
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if isInteger, let integer = Int64(text) { return .integer(integer) }
        if isInteger, text.utf8.count <= 38 { return .decimal(NSDecimalNumber(string: text)) }
        guard let double = Double(text) else { throw error("expected a number", at: start) }
        return .double(double)
    }

    private mutating func integer(radix: Int, from start: Int) throws(PredicateFormatError) -> Value {
        let digits = position
        while let byte = peek(), isWordStart(byte) || isDigit(byte) { position += 1 }
        let text = String(decoding: bytes[digits..<position], as: UTF8.self)
        guard let value = UInt64(text, radix: radix) else {
            throw error("expected a number of base \(radix) in 64 bits", at: start)
        }
        return Int64(exactly: value).map { .integer($0) } ?? .decimal(NSDecimalNumber(value: value))
    }

    private func radix(of byte: UInt8?) -> Int? {
        switch byte {
        case UInt8(ascii: "x"), UInt8(ascii: "X"): 16
        case UInt8(ascii: "o"), UInt8(ascii: "O"): 8
        case UInt8(ascii: "b"), UInt8(ascii: "B"): 2
        default: nil
        }
    }

    private mutating func skipDigits() {
        while isDigit(peek()) { position += 1 }
    }

    private func endNumber(from start: Int) throws(PredicateFormatError) {
        if let byte = peek(), isWordStart(byte) {
            throw error("expected a number, or a key that does not begin with a digit", at: start)
        }
    }

    // MARK: Strings

    private mutating func string(quote: UInt8) throws(PredicateFormatError) -> String {
        let start = position
        position += 1
        var text: [UInt8] = []
        while let byte = peek() {
            position += 1
            if byte == quote { return String(decoding: text, as: UTF8.self) }
            if byte == UInt8(ascii: "\\") {
                text += try escape()
            } else {
                text.append(byte)
            }
        }
        throw error("the string that begins here has no closing quotation mark", at: start)
    }

    /// The characters for an escape. An unknown one stands for its character without the backslash, so that the
    /// backslashes of a regular expression in a format string are doubled.
    private mutating func escape() throws(PredicateFormatError) -> [UInt8] {
        guard let byte = peek() else { return [] }
        position += 1
        switch byte {
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "u"):
            let start = position - 2
            let digits = bytes[position..<min(position + 4, bytes.count)]
            guard digits.count == 4, let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16),
                let scalar = Unicode.Scalar(code)
            else { throw error("expected four hexadecimal digits of a character after \"\\u\"", at: start) }
            position += 4
            return Array(String(Character(scalar)).utf8)
        default: return [byte]
        }
    }

    // MARK: Placeholders

    private mutating func placeholder() throws(PredicateFormatError) -> Token {
        let start = position
        position += 1
        if peek() == UInt8(ascii: "%") {
            position += 1
            return .symbol(.modulus)
        }
        // Flags, width, precision and length have no meaning here, since an argument has a type.
        let ignored = Array("0123456789.-+ lhqLztj".utf8)
        while let byte = peek(), ignored.contains(byte) { position += 1 }
        guard let conversion = peek() else {
            throw error("expected a placeholder such as %@, %K or %d", at: start)
        }
        position += 1
        switch Character(Unicode.Scalar(conversion)) {
        case "@": return .placeholder(.value)
        case "K": return .placeholder(.keyPath)
        case "u", "U":
            // Some programs write `%lud`, which Core Data takes for one placeholder.
            if peek() == UInt8(ascii: "d") { position += 1 }
            return .placeholder(.integer)
        case "d", "D", "i", "x", "X", "o", "O": return .placeholder(.integer)
        case "f", "F", "e", "E", "g", "G", "a", "A": return .placeholder(.floatingPoint)
        case "c", "C": return .placeholder(.character)
        case "s", "S": return .placeholder(.string)
        default: throw error("expected a placeholder such as %@, %K or %d", at: start)
        }
    }

    // MARK: Symbols

    private mutating func symbol() throws(PredicateFormatError) -> Symbol {
        if let first = peek(), let second = peek(1), let symbol = symbol(first, second) {
            position += 2
            return symbol
        }
        if let byte = peek(), let symbol = byte == UInt8(ascii: "=") ? .equal : symbol(byte) {
            position += 1
            return symbol
        }
        position += 1
        throw error("unexpected character \"\(tokenText)\"", at: tokenStart)
    }

    private func symbol(_ first: UInt8, _ second: UInt8) -> Symbol? {
        switch String(decoding: [first, second], as: UTF8.self) {
        case "==": .equal
        case "!=", "<>": .notEqual
        case "<=", "=<": .lessThanOrEqual
        case ">=", "=>": .greaterThanOrEqual
        case "&&": .and
        case "||": .or
        case "**": .power
        case "<<": .leftShift
        case ">>": .rightShift
        case ":=": .assign
        default: nil
        }
    }

    private func symbol(_ byte: UInt8) -> Symbol? {
        Symbol(rawValue: String(decoding: [byte], as: UTF8.self))
    }
}
