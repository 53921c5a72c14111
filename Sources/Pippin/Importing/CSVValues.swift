import Foundation

/// Converts the text of a field into a value. A text must be a value as a whole: nothing is truncated, rounded to
/// another number, or guessed.
enum CSVValues {
    /// A whole number in decimal digits. All types of numbers are read as one of two, so that only two readers are
    /// compiled.
    ///
    /// - Returns: nil for a text that is not a whole number, and for a number that the type cannot hold.
    static func integer<Number: FixedWidthInteger>(_ text: String) -> Number? {
        if let number = Int64(text) { return Number(exactly: number) }
        return UInt64(text).flatMap { Number(exactly: $0) }
    }

    /// A floating-point number in decimal digits.
    ///
    /// - Returns: nil for a text that is not a number, such as `0x10`, `nan` and `1,5`, and for a number that is too
    ///   large for the type, or so small that it would become zero.
    static func floating<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ text: String) -> Number? {
        guard let digits = significantDigits(of: text), let number = Number(text), number.isFinite else { return nil }
        return number == 0 && !digits.isEmpty ? nil : number
    }

    /// A decimal number with all its digits.
    ///
    /// - Returns: nil for a text that is not a number, and for more digits than `Decimal` has.
    static func decimal(_ text: String) -> Decimal? {
        guard let digits = significantDigits(of: text), digits.count <= 38,
            let number = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !number.isNaN
        else { return nil }
        return number.isZero && !digits.isEmpty ? nil : number
    }

    /// The digits of a decimal number without the zeros around them: `0012.50e3` has `125`.
    ///
    /// - Returns: nil for a text that is no such number.
    private static func significantDigits(of text: String) -> Substring? {
        var rest = Array(text.utf8)[...]
        func takeSign() {
            if let first = rest.first, first == UInt8(ascii: "+") || first == UInt8(ascii: "-") { rest.removeFirst() }
        }
        func takeDigits() -> ArraySlice<UInt8> {
            let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            rest = rest.dropFirst(digits.count)
            return digits
        }
        takeSign()
        var digits = Array(takeDigits())
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            digits += takeDigits()
        }
        guard !digits.isEmpty else { return nil }
        if let first = rest.first, first == UInt8(ascii: "e") || first == UInt8(ascii: "E") {
            rest.removeFirst()
            takeSign()
            guard !takeDigits().isEmpty else { return nil }
        }
        guard rest.isEmpty else { return nil }
        let significant = String(decoding: digits, as: UTF8.self).drop { $0 == "0" }
        return significant.dropLast(significant.reversed().prefix { $0 == "0" }.count)
    }

    /// A URL as it is written; nil for a text with characters that are not allowed in a URL.
    static func url(_ text: String) -> URL? { URL(string: text, encodingInvalidCharacters: false) }
}

/// How dates are written in a CSV file, in columns of their own and in JSON.
public enum CSVDates: Sendable {
    /// As in `2024-05-17T08:30:00Z`, `2024-05-17T08:30:00.25+02:00`, or `2024-05-17` for midnight in UTC. A time needs
    /// its zone. The calendar is Foundation's: Julian before 15 October 1582, so that `0001-01-01T00:00:00Z` is
    /// `Date.distantPast`.
    case iso8601
    /// Seconds since 1970.
    case secondsSince1970
    /// Your own conversion; it returns nil for a text that is not a date.
    case custom(@Sendable (String) -> Date?)

    func date(_ text: String) -> Date? {
        switch self {
        case .iso8601: ISO8601Text(text)?.date
        case .secondsSince1970: CSVValues.floating(text).map { Date(timeIntervalSince1970: $0) }
        case .custom(let parse): parse(text)
        }
    }

    /// The format that a text is expected to have.
    var expectation: String {
        switch self {
        case .iso8601: "a date such as 2024-05-17, or with a time and its zone 2024-05-17T08:30:00Z"
        case .secondsSince1970: "seconds since 1970"
        case .custom: "a date as the import's own parser takes it"
        }
    }
}

/// A date in ISO 8601's extended form. Each part is checked: there is no 30th of February, and nothing may follow the
/// end. Days before 15 October 1582 are of the Julian calendar, as Foundation reads them.
struct ISO8601Text {
    let date: Date

    init?(_ text: String) {
        var rest = Rest(bytes: Array(text.utf8)[...])
        guard let year = rest.number(4), rest.take("-"), let month = rest.number(2), rest.take("-"),
            let day = rest.number(2),
            (1...12).contains(month)
        else { return nil }
        let isJulian = (year, month, day) < (1582, 10, 15)
        guard (1...Self.days(in: month, of: year, isJulian)).contains(day) else { return nil }
        var seconds = Double(Self.daysSince1970(year, month, day, isJulian) * 86_400)
        if !rest.bytes.isEmpty {
            guard rest.take("T"), let time = Self.time(&rest), let zone = Self.zone(&rest) else { return nil }
            seconds += time - zone
        }
        guard rest.bytes.isEmpty else { return nil }
        date = Date(timeIntervalSince1970: seconds)
    }

    /// Seconds since midnight: `08:30`, `08:30:00`, `08:30:00.25`.
    private static func time(_ rest: inout Rest) -> Double? {
        guard let hour = rest.number(2), hour < 24, rest.take(":"), let minute = rest.number(2), minute < 60 else {
            return nil
        }
        var seconds = Double(hour * 3600 + minute * 60)
        if rest.take(":") {
            guard let second = rest.number(2), second < 60 else { return nil }
            seconds += Double(second)
            if rest.take(".") {
                let digits = rest.digits()
                guard !digits.isEmpty, let fraction = Double("0.\(digits)") else { return nil }
                seconds += fraction
            }
        }
        return seconds
    }

    /// Seconds east of Greenwich: `Z`, `+02:00`, `-0530`.
    private static func zone(_ rest: inout Rest) -> Double? {
        if rest.take("Z") { return 0 }
        let sign: Double = rest.take("+") ? 1 : -1
        if sign < 0, !rest.take("-") { return nil }
        guard let hours = rest.number(2), hours < 24 else { return nil }
        _ = rest.take(":")
        guard let minutes = rest.number(2), minutes < 60 else { return nil }
        return sign * Double(hours * 3600 + minutes * 60)
    }

    /// The rest of a text that is still to be read.
    private struct Rest {
        var bytes: ArraySlice<UInt8>

        mutating func take(_ character: Character) -> Bool {
            guard let byte = character.asciiValue, bytes.first == byte else { return false }
            bytes.removeFirst()
            return true
        }

        mutating func digits() -> String {
            let digits = bytes.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
            bytes = bytes.dropFirst(digits.count)
            return String(decoding: digits, as: UTF8.self)
        }

        /// A number of exactly that many digits.
        mutating func number(_ count: Int) -> Int? {
            var digits = Rest(bytes: bytes.prefix(count))
            guard digits.digits().utf8.count == count,
                let number = Int(String(decoding: bytes.prefix(count), as: UTF8.self))
            else { return nil }
            bytes = bytes.dropFirst(count)
            return number
        }
    }

    private static func days(in month: Int, of year: Int, _ isJulian: Bool) -> Int {
        switch month {
        case 2: year % 4 == 0 && (isJulian || year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Days in the calendar of the time. Years begin with March here, so that a leap day is the last day of its year.
    private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int, _ isJulian: Bool) -> Int {
        let years = month > 2 ? year : year - 1
        let months = (month + 9) % 12
        // The year before year 0 is -1, whose leap days are rounded down.
        let leapDays = (years >= 0 ? years : years - 3) / 4 - (isJulian ? 2 : years / 100 - years / 400)
        return years * 365 + leapDays + (months * 153 + 2) / 5 + day - 1 - 719_468
    }
}
