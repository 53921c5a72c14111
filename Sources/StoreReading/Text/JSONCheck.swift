import Foundation

/// Checks that bytes are JSON (RFC 8259) without making anything of them: a large value takes no memory. Pure.
struct JSONCheck {
    /// Readers refuse what is nested more deeply; Foundation does.
    private static let deepest = 512

    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0

    /// - Parameters:
    ///   - data: the bytes.
    ///   - allowsFragments: whether a single text, number or word is JSON, too.
    /// - Returns: whether the bytes are a value in JSON, and UTF-8.
    static func holds(_ data: Data, allowsFragments: Bool) -> Bool {
        data.withUnsafeBytes { raw in
            var check = JSONCheck(bytes: raw.bindMemory(to: UInt8.self))
            check.skipBlanks()
            guard allowsFragments || check.next == UInt8(ascii: "{") || check.next == UInt8(ascii: "[") else {
                return false
            }
            return check.passValues() && check.place == check.bytes.count && UTF8Check.holds(raw)
        }
    }

    private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipBlanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { place += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        place += 1
        return true
    }

    /// Goes on behind a value with all that is in it. What is open is on a stack, so that no nesting is too deep for
    /// the thread.
    private mutating func passValues() -> Bool {
        var open: [UInt8] = []
        repeat {
            skipBlanks()
            if let bracket = next, bracket == UInt8(ascii: "{") || bracket == UInt8(ascii: "[") {
                place += 1
                skipBlanks()
                // The closing brackets are two behind the opening ones.
                if !take(bracket + 2) {
                    guard open.count < Self.deepest, bracket == UInt8(ascii: "[") || passName() else { return false }
                    open.append(bracket)
                    continue
                }
            } else if !passSingle() {
                return false
            }
            skipBlanks()
            while let bracket = open.last, take(bracket + 2) {
                open.removeLast()
                skipBlanks()
            }
            guard let bracket = open.last else { return true }
            guard take(UInt8(ascii: ",")), bracket == UInt8(ascii: "[") || passName() else { return false }
        } while true
    }

    /// Goes on behind the name of a member and its colon.
    private mutating func passName() -> Bool {
        skipBlanks()
        guard passText() else { return false }
        skipBlanks()
        return take(UInt8(ascii: ":"))
    }

    private mutating func passSingle() -> Bool {
        switch next {
        case UInt8(ascii: "\""): passText()
        case UInt8(ascii: "t"): pass("true")
        case UInt8(ascii: "f"): pass("false")
        case UInt8(ascii: "n"): pass("null")
        default: passNumber()
        }
    }

    private mutating func pass(_ word: StaticString) -> Bool {
        guard place + word.utf8CodeUnitCount <= bytes.count else { return false }
        for index in 0..<word.utf8CodeUnitCount where bytes[place + index] != word.utf8Start[index] { return false }
        place += word.utf8CodeUnitCount
        return true
    }

    private mutating func passText() -> Bool {
        guard take(UInt8(ascii: "\"")) else { return false }
        while let byte = next {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case 0..<0x20: return false
            case UInt8(ascii: "\\"):
                guard let escaped = next, "\"\\/bfnrtu".utf8.contains(escaped) else { return false }
                place += 1
                guard escaped == UInt8(ascii: "u") else { continue }
                for _ in 0..<4 {
                    guard let digit = next, isHexadecimal(digit) else { return false }
                    place += 1
                }
            default: continue
            }
        }
        return false
    }

    private func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private mutating func passNumber() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")), !passDigits() { return false }
        if take(UInt8(ascii: ".")), !passDigits() { return false }
        if next.map({ $0 | 0x20 }) == UInt8(ascii: "e") {
            place += 1
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            return passDigits()
        }
        return true
    }

    private mutating func passDigits() -> Bool {
        let start = place
        while let byte = next, isDigit(byte) { place += 1 }
        return place > start
    }
}

/// Checks that bytes are UTF-8, of which a small piece is in memory at a time. Pure.
enum UTF8Check {
    private static let piece = 1 << 16

    static func holds(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            var end = rest.index(rest.startIndex, offsetBy: piece, limitedBy: rest.endIndex) ?? rest.endIndex
            // A piece begins with no byte that continues a character.
            while end < rest.endIndex, end > rest.startIndex, rest[end] & 0xC0 == 0x80 { end -= 1 }
            guard end > rest.startIndex, String(validating: rest[..<end], as: UTF8.self) != nil else { return false }
            rest = rest[end...]
        }
        return true
    }
}
