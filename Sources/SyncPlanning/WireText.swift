/// How large a message may be. Whatever is larger is refused before it is held in memory as values.
package struct WireLimits: Hashable, Sendable {
    /// The bytes of a message before it is compressed.
    package var body = 64 << 20
    /// The bytes of one line, and the JSON values in it.
    package var line = 16 << 20
    package var values = 1 << 20
    /// How deep arrays and objects are nested.
    package var depth = 16

    package init() {}
}

/// Why bytes are not a message.
package struct WireError: Error, Hashable, CustomStringConvertible, Sendable {
    package enum Code: String, Hashable, Sendable {
        /// The bytes are not JSON, or not compressed as they say.
        case syntax
        /// A field is missing, or is not what it must be.
        case content
        /// The message, or a part of it, is larger than may be.
        case tooLarge
        /// The message ends before its last line.
        case truncated
        /// The other side speaks another version.
        case version
    }

    package let code: Code
    package let description: String

    package init(_ code: Code, _ description: String) { (self.code, self.description) = (code, description) }
}

/// A JSON value as it is read. Whole numbers keep all of their digits.
package indirect enum WireJSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A whole number that only fits without a sign.
    case unsigned(UInt64)
    case double(Double)
    case text(String)
    case array([WireJSON])
    case object([String: WireJSON])
}

/// Reads one JSON value (RFC 8259) of UTF-8 bytes, stricter than it must be: no name twice, no half of a surrogate
/// pair.
struct WireParser {
    private let bytes: ArraySlice<UInt8>
    private var place: Int
    private var values = 0
    private let limits: WireLimits

    /// - Parameters:
    ///   - bytes: one value, with nothing but spaces around it.
    ///   - limits: how large it may be.
    /// - Returns: the value.
    /// - Throws: ``WireError``.
    static func parse(_ bytes: ArraySlice<UInt8>, _ limits: WireLimits = WireLimits()) throws -> WireJSON {
        if bytes.count > limits.line {
            throw WireError(.tooLarge, "a line has \(bytes.count) bytes; at most \(limits.line) are read")
        }
        var parser = WireParser(bytes: bytes, place: bytes.startIndex, limits: limits)
        let value = try parser.value(depth: 0)
        parser.skipSpaces()
        if parser.place < bytes.endIndex { throw parser.wrong("the end of the line") }
        return value
    }

    private init(bytes: ArraySlice<UInt8>, place: Int, limits: WireLimits) {
        (self.bytes, self.place, self.limits) = (bytes, place, limits)
    }

    private var next: UInt8? { place < bytes.endIndex ? bytes[place] : nil }

    private func wrong(_ expected: String) -> WireError {
        let found = next.map { "byte \($0)" } ?? "the end"
        return WireError(
            .syntax, "\(found) at place \(place - bytes.startIndex) of a line, where \(expected) was expected")
    }

    private mutating func skipSpaces() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0D { place += 1 }
    }

    private mutating func take(_ byte: UInt8, _ expected: String) throws {
        guard next == byte else { throw wrong(expected) }
        place += 1
    }

    private mutating func word(_ text: StaticString) throws {
        for offset in 0..<text.utf8CodeUnitCount {
            guard next == text.utf8Start[offset] else { throw wrong("“\(text)”") }
            place += 1
        }
    }

    private mutating func value(depth: Int) throws -> WireJSON {
        skipSpaces()
        values += 1
        if values > limits.values { throw WireError(.tooLarge, "a line has more than \(limits.values) values") }
        if depth > limits.depth { throw WireError(.tooLarge, "values are nested deeper than \(limits.depth)") }
        switch next {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try array(depth)
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"):
            try word("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try word("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try word("null")
            return .null
        case UInt8(ascii: "-")?: return try number()
        case let byte? where byte >= 0x30 && byte <= 0x39: return try number()
        default: throw wrong("a value")
        }
    }

    private mutating func object(_ depth: Int) throws -> WireJSON {
        place += 1
        var items: [String: WireJSON] = [:]
        skipSpaces()
        if next == UInt8(ascii: "}") {
            place += 1
            return .object(items)
        }
        while true {
            skipSpaces()
            let name = try text()
            skipSpaces()
            try take(UInt8(ascii: ":"), "a colon")
            let value = try value(depth: depth + 1)
            if items.updateValue(value, forKey: name) != nil {
                throw WireError(.content, "the name “\(Self.short(name))” is there twice in one object")
            }
            skipSpaces()
            if next == UInt8(ascii: "}") { break }
            try take(UInt8(ascii: ","), "a comma or the object's end")
        }
        place += 1
        return .object(items)
    }

    private mutating func array(_ depth: Int) throws -> WireJSON {
        place += 1
        var items: [WireJSON] = []
        skipSpaces()
        if next == UInt8(ascii: "]") {
            place += 1
            return .array(items)
        }
        while true {
            items.append(try value(depth: depth + 1))
            skipSpaces()
            if next == UInt8(ascii: "]") { break }
            try take(UInt8(ascii: ","), "a comma or the array's end")
        }
        place += 1
        return .array(items)
    }

    private mutating func number() throws -> WireJSON {
        let start = place
        if next == UInt8(ascii: "-") { place += 1 }
        let first = place
        while let byte = next, byte >= 0x30, byte <= 0x39 { place += 1 }
        guard place > first, bytes[first] != 0x30 || place == first + 1 else { throw wrong("a digit") }
        var isWhole = true
        while let byte = next, byte >= 0x30 && byte <= 0x39 || ".eE+-".utf8.contains(byte) {
            isWhole = false
            place += 1
        }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if isWhole {
            if let number = Int64(text) { return .integer(number) }
            if let number = UInt64(text) { return .unsigned(number) }
        } else if let number = Double(text), number.isFinite {
            return .double(number)
        }
        throw WireError(.content, "“\(Self.short(text))” is not a number that fits into 64 bits")
    }

    private mutating func text() throws -> String {
        try take(UInt8(ascii: "\""), "a quotation mark")
        let start = place
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { place += 1 }
        if next == UInt8(ascii: "\"") {
            defer { place += 1 }
            return try Self.string(bytes[start..<place])
        }
        var result = Array(bytes[start..<place])
        while let byte = next {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return try Self.string(result[...])
            case UInt8(ascii: "\\"): try escape(&result)
            case 0..<0x20:
                place -= 1
                throw wrong("a character that is not a control character")
            default: result.append(byte)
            }
        }
        throw wrong("a quotation mark")
    }

    private static func string(_ bytes: ArraySlice<UInt8>) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw WireError(.syntax, "a text is not UTF-8")
        }
        return text
    }

    private mutating func escape(_ result: inout [UInt8]) throws {
        guard let byte = next else { throw wrong("an escaped character") }
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(byte)
        case UInt8(ascii: "n"): result.append(0x0A)
        case UInt8(ascii: "r"): result.append(0x0D)
        case UInt8(ascii: "t"): result.append(0x09)
        case UInt8(ascii: "b"): result.append(0x08)
        case UInt8(ascii: "f"): result.append(0x0C)
        case UInt8(ascii: "u"):
            var code = UInt32(try unit())
            if (0xD800..<0xDC00).contains(code) {
                try word("\\u")
                let low = UInt32(try unit())
                guard (0xDC00..<0xE000).contains(low) else { throw wrong("the second half of a pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw wrong("the first half of a pair") }
            result += Array(String(Character(scalar)).utf8)
        default: throw wrong("an escaped character")
        }
    }

    private mutating func unit() throws -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = WireText.digit(byte) else { throw wrong("a hexadecimal digit") }
            unit = unit << 4 | UInt16(digit)
            place += 1
        }
        return unit
    }

    /// The beginning of a text, for a message.
    static func short(_ text: String) -> String { text.count > 40 ? text.prefix(40) + "…" : text }
}

/// Writes and reads the texts of a message.
enum WireText {
    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Sixteen hexadecimal digits.
    static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    static func number(hexadecimal text: String) -> UInt64? {
        guard text.utf8.count == 16, text.utf8.allSatisfy({ digit($0) != nil }) else { return nil }
        return UInt64(text, radix: 16)
    }

    static func write(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case 0x0A: output += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                output += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    // MARK: Dates

    private static let day: Int64 = 86_400_000_000

    /// A time in microseconds since 1970 as ISO 8601, in the Gregorian calendar, also before it was introduced. Years
    /// of more than four digits have a sign.
    static func date(_ time: Int64) -> String {
        var days = time / day
        var rest = time % day
        if rest < 0 { (days, rest) = (days - 1, rest + day) }
        // Days since 1 March of the year 0; a year that begins in March has its leap day at the end.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let ofEra = shifted - era * 146_097
        let yearOfEra = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365
        let ofYear = ofEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * ofYear + 2) / 153
        let dayOfMonth = ofYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let seconds = rest / 1_000_000
        var text = (0...9_999).contains(year) ? padded(year, 4) : (year < 0 ? "-" : "+") + padded(abs(year), 6)
        text += "-\(padded(month, 2))-\(padded(dayOfMonth, 2))T"
        text += "\(padded(seconds / 3_600, 2)):\(padded(seconds / 60 % 60, 2)):\(padded(seconds % 60, 2))"
        let fraction = rest % 1_000_000
        return text + (fraction == 0 ? "Z" : ".\(padded(fraction, 6))Z")
    }

    private static func padded(_ number: Int64, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }

    /// Reads what ``date(_:)`` writes; nil for anything else, and for a time that does not fit.
    static func time(_ text: String) -> Int64? {
        var rest = Substring(text)
        var sign: Int64 = 1
        var width = 4
        if rest.first == "+" || rest.first == "-" {
            sign = rest.first == "-" ? -1 : 1
            rest = rest.dropFirst()
            width = 6
        }
        func number(_ count: Int, then separator: String) -> Int64? {
            let digits = rest.prefix(count)
            guard digits.utf8.count == count, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
            rest = rest.dropFirst(count)
            guard rest.hasPrefix(separator) else { return nil }
            rest = rest.dropFirst(separator.count)
            return Int64(digits)
        }
        guard let years = number(width, then: "-"), let month = number(2, then: "-"),
            let dayOfMonth = number(2, then: "T"),
            let hour = number(2, then: ":"), let minute = number(2, then: ":"), let second = number(2, then: "")
        else { return nil }
        var fraction: Int64 = 0
        if rest != "Z" {
            guard rest.first == "." else { return nil }
            rest = rest.dropFirst()
            guard let micros = number(6, then: "Z"), rest.isEmpty else { return nil }
            fraction = micros
        }
        guard (1...12).contains(month), (1...31).contains(dayOfMonth), hour < 24, minute < 60, second < 60 else {
            return nil
        }
        let year = sign * years - (month <= 2 ? 1 : 0)
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + dayOfMonth - 1
        let ofEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + ofYear
        let days = era * 146_097 + ofEra - 719_468
        let time =
            Int128(days) * Int128(day) + Int128((hour * 3_600 + minute * 60 + second) * 1_000_000 + fraction)
        guard let result = Int64(exactly: time), Self.date(result) == text else { return nil }
        return result
    }

    // MARK: Bytes

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let sextets: [UInt8] = {
        var table = [UInt8](repeating: 0xFF, count: 256)
        for (place, byte) in alphabet.enumerated() { table[Int(byte)] = UInt8(place) }
        return table
    }()

    static func writeBase64(_ bytes: [UInt8], to output: inout [UInt8]) {
        output.reserveCapacity(output.count + bytes.count / 3 * 4 + 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let count = min(3, bytes.count - start)
            var word: UInt32 = 0
            for offset in 0..<3 { word = word << 8 | (offset < count ? UInt32(bytes[start + offset]) : 0) }
            for place in 0..<4 {
                output.append(
                    place > count ? UInt8(ascii: "=") : alphabet[Int(word >> UInt32(18 - 6 * place) & 63)])
            }
        }
    }

    /// Reads base64 (RFC 4648) with its padding; nil for anything else.
    static func bytes(base64 text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 4) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        for start in stride(from: 0, to: digits.count, by: 4) {
            var word: UInt32 = 0
            var count = 0
            for offset in 0..<4 {
                let digit = digits[start + offset]
                let sextet = sextets[Int(digit)]
                if sextet == 0xFF {
                    guard digit == UInt8(ascii: "="), start + 4 == digits.count, offset >= 2 else { return nil }
                    word <<= 6
                    continue
                }
                guard count == offset else { return nil }
                count += 1
                word = word << 6 | UInt32(sextet)
            }
            // Bits that say nothing are zero.
            if count == 2 && word & 0xFFFF != 0 || count == 3 && word & 0xFF != 0 { return nil }
            bytes.append(UInt8(word >> 16 & 0xFF))
            if count > 2 { bytes.append(UInt8(word >> 8 & 0xFF)) }
            if count > 3 { bytes.append(UInt8(word & 0xFF)) }
        }
        return bytes
    }
}
