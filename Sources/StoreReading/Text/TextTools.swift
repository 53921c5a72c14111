import CodeGeneration
import CoreData
import Foundation

/// Small pieces of text that the renderings share.
package enum TextTools {
    /// How many of the things with the same defect are named in a sentence.
    static let mostNamed = 5

    /// A sentence without its final period, as a part of another one.
    package static func withoutPeriod(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }

    /// A name from a file, without characters that a terminal would interpret.
    package static func inOneLine(_ name: String) -> String { name.escaped }

    /// The same with all other characters as they are, for names that are part of a sentence or a drawing.
    package static func visible(_ name: String) -> String { plain(name) == name ? name : name.escaped }

    /// A text in which an ASCII character has another text in its place, also before a combining character, with which
    /// it is one `Character`.
    package static func replacing(_ byte: UInt8, with other: String, in text: String) -> String {
        guard text.utf8.contains(byte) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + other.utf8.count)
        for next in text.utf8 { if next == byte { bytes += other.utf8 } else { bytes.append(next) } }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A text without control characters, which would reach the terminal, and without invisible ones, which would
    /// change what is read: a space takes the place of each. Joiners stay, since letters and families of emoji consist
    /// of them.
    package static func plain(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            result.unicodeScalars.append(isPlain(scalar) ? scalar : " ")
        }
        return result
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: false
        // Signs of some scripts are of this category, too, such as that before an Arabic year.
        case .format: ["\u{200C}", "\u{200D}"].contains(scalar) || !scalar.properties.isDefaultIgnorableCodePoint
        default: true
        }
    }

    /// The same for a text of several lines.
    package static func plainLines(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { plain(String($0)) }.joined(separator: "\n")
    }

    /// `1234567` as `1,234,567`.
    package static func grouped(_ number: Int64) -> String {
        let digits = String(number.magnitude)
        var result = ""
        for (position, digit) in digits.enumerated() {
            if position > 0, (digits.count - position) % 3 == 0 { result.append(",") }
            result.append(digit)
        }
        return (number < 0 ? "-" : "") + result
    }

    /// `1 object`, `25 objects`.
    package static func count(_ number: Int, _ singular: String, _ plural: String? = nil) -> String {
        "\(grouped(Int64(number))) \(number == 1 ? singular : plural ?? singular + "s")"
    }

    /// The number of characters of a text.
    package static func length(of text: String) -> Int {
        // Counting characters costs much more than checking for ASCII; a carriage return and a line feed are one
        // character.
        text.utf8.allSatisfy { $0 < 0x80 && $0 != 0x0D } ? text.utf8.count : text.count
    }

    /// The text, padded with spaces.
    package static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - length(of: text)))
    }

    /// A number of bytes for people: `98 KB`.
    package static func size(_ bytes: Int64) -> String {
        if bytes < 1000 { return count(Int(bytes), "byte") }
        var value = Double(bytes)
        var unit = ""
        for next in ["KB", "MB", "GB", "TB"] where value >= 1000 {
            value /= 1000
            unit = next
        }
        return String(format: value < 10 ? "%.1f %@" : "%.0f %@", value, unit)
    }

    /// A date in ISO 8601, in UTC, with as many decimals of the second as it needs to be read back: none, three, or
    /// six to nine. The calendar is Foundation's; see ``CalendarDate``.
    package static func iso8601(_ secondsSince2001: Double) -> String { iso8601(secondsSince2001, in: nil) }

    /// The same with a least number of decimals.
    ///
    /// - Parameters:
    ///   - secondsSince2001: the date.
    ///   - least: the fewest decimals: 0, 3, or 6 to 9.
    ///   - zone: its time zone, of which the text has the offset in minutes; nil for UTC.
    /// - Returns: the date in ISO 8601; a number for a date beyond every calendar.
    package static func iso8601(_ secondsSince2001: Double, decimals least: Int = 0, in zone: TimeZone?) -> String {
        var bytes: [UInt8] = []
        append(date: secondsSince2001, decimals: least, in: zone, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a date, as ``iso8601(_:decimals:in:)`` writes it.
    static func append(
        date secondsSince2001: Double, decimals least: Int = 0, in zone: TimeZone? = nil, to text: inout [UInt8]
    ) {
        guard isInCalendar(secondsSince2001) else {
            text += "\(secondsSince2001)".utf8
            return
        }
        let minutes = zone.map { zone in
            let seconds = zone.secondsFromGMT(for: Date(timeIntervalSinceReferenceDate: secondsSince2001))
            return Int((Double(seconds) / 60).rounded())
        }
        var (whole, fraction, needed) = parts(secondsSince2001)
        whole += Double(60 * (minutes ?? 0))
        var (number, decimals) = (fraction, needed)
        while decimals < least { (number, decimals) = (number * 10, decimals + 1) }
        let days = (whole / 86_400).rounded(.down)
        let seconds = Int(whole - days * 86_400)
        let date = CalendarDate(daysSince2001: Int(days))
        // Millions of dates are written; formatters cost ten times as much.
        if date.year < 0 { text.append(UInt8(ascii: "-")) }
        append(abs(date.year), 4, to: &text)
        append("-", date.month, to: &text)
        append("-", date.day, to: &text)
        append("T", seconds / 3600, to: &text)
        append(":", seconds / 60 % 60, to: &text)
        append(":", seconds % 60, to: &text)
        if decimals > 0 {
            text.append(UInt8(ascii: "."))
            append(number, decimals, to: &text)
        }
        guard let minutes else {
            text.append(UInt8(ascii: "Z"))
            return
        }
        append(minutes < 0 ? "-" : "+", abs(minutes) / 60, to: &text)
        append(":", abs(minutes) % 60, to: &text)
    }

    /// Appends a sign and a number of two digits.
    private static func append(_ sign: Unicode.Scalar, _ number: Int, to text: inout [UInt8]) {
        text.append(UInt8(ascii: sign))
        append(number, 2, to: &text)
    }

    /// How many decimals of the second a date needs to be read back: none, three, or six to nine.
    package static func decimals(_ secondsSince2001: Double) -> Int {
        isInCalendar(secondsSince2001) ? parts(secondsSince2001).decimals : 0
    }

    static func isInCalendar(_ seconds: Double) -> Bool { seconds.isFinite && abs(seconds) < 3e11 }

    /// Whole seconds, and the decimals of the rest.
    private static func parts(_ secondsSince2001: Double) -> (whole: Double, fraction: Int, decimals: Int) {
        var (whole, fraction, decimals, scale) = (secondsSince2001.rounded(.down), 0.0, 6, 1_000_000.0)
        let rest = secondsSince2001 - whole
        if rest == 0 { return (whole, 0, 0) }
        while true {
            fraction = (rest * scale).rounded()
            if decimals == 9 || whole + fraction / scale == secondsSince2001 { break }
            (decimals, scale) = (decimals + 1, scale * 10)
        }
        if fraction == scale { (whole, fraction) = (whole + 1, 0) }
        let number = Int(fraction)
        if number == 0 { return (whole, 0, 0) }
        return decimals == 6 && number % 1000 == 0 ? (whole, number / 1000, 3) : (whole, number, decimals)
    }

    /// Appends a number with at least the given number of digits.
    private static func append(_ number: Int, _ digits: Int, to text: inout [UInt8]) {
        var scale = 1
        for _ in 1..<digits { scale *= 10 }
        while number / scale >= 10 { scale *= 10 }
        while scale > 0 {
            text.append(UInt8(ascii: "0") + UInt8(number / scale % 10))
            scale /= 10
        }
    }
}

/// A day as Foundation writes and reads it in ISO 8601: in the Julian calendar before 15 October 1582, and in the
/// Gregorian one from then on. `Date.distantPast` is 0001-01-01.
///
/// Formatters say the same, and cost ten times as much: millions of dates are written.
struct CalendarDate: Equatable {
    let year: Int
    let month: Int
    let day: Int

    /// 1582-10-15, the first day of the Gregorian calendar. Days before it count two more of the Julian calendar.
    private static let firstGregorian = -152_750

    init(year: Int, month: Int, day: Int) { (self.year, self.month, self.day) = (year, month, day) }

    /// The day that many days after 2001-01-01.
    init(daysSince2001 days: Int) {
        // Years that begin in March have their leap day at the end; 400 of them have 146,097 days, or four of the
        // Julian calendar 1,461.
        let isGregorian = days >= Self.firstGregorian
        let (length, years) = isGregorian ? (146_097, 400) : (1461, 4)
        let shifted = days + (isGregorian ? 730_791 : 730_793)
        let era = (shifted >= 0 ? shifted : shifted - length + 1) / length
        let dayOfEra = shifted - era * length
        let leapDays =
            isGregorian ? dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096 : dayOfEra / 1460
        let yearOfEra = (dayOfEra - leapDays) / 365
        let centuries = isGregorian ? yearOfEra / 100 : 0
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - centuries)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * years + (month <= 2 ? 1 : 0)
    }

    /// Whether there is such a day. The days that were left out in October 1582 are days of the Julian calendar, as
    /// Foundation reads them.
    var isValid: Bool {
        guard (1...12).contains(month), day >= 1 else { return false }
        switch month {
        case 2: return day <= (year % 4 == 0 && (isJulian || year % 100 != 0 || year % 400 == 0) ? 29 : 28)
        case 4, 6, 9, 11: return day <= 30
        default: return day <= 31
        }
    }

    /// The number of days from 2001-01-01 to this day.
    var daysSince2001: Int {
        let (length, years) = isJulian ? (1461, 4) : (146_097, 400)
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - years + 1) / years
        let yearOfEra = shiftedYear - era * years
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let leapDays = yearOfEra / 4 - (isJulian ? 0 : yearOfEra / 100)
        return era * length + yearOfEra * 365 + leapDays + dayOfYear - (isJulian ? 730_793 : 730_791)
    }

    private var isJulian: Bool { (year, month, day) < (1582, 10, 15) }
}

/// The names of attribute types.
package enum TypeName {
    /// The types by the names that Xcode shows.
    package static func of(_ type: NSAttributeType) -> String {
        switch type {
        case .undefinedAttributeType: "Undefined"
        case .integer16AttributeType: "Integer 16"
        case .integer32AttributeType: "Integer 32"
        case .integer64AttributeType: "Integer 64"
        case .decimalAttributeType: "Decimal"
        case .doubleAttributeType: "Double"
        case .floatAttributeType: "Float"
        case .stringAttributeType: "String"
        case .booleanAttributeType: "Boolean"
        case .dateAttributeType: "Date"
        case .binaryDataAttributeType: "Binary Data"
        case .UUIDAttributeType: "UUID"
        case .URIAttributeType: "URI"
        case .transformableAttributeType: "Transformable"
        case .objectIDAttributeType: "Object ID"
        case .compositeAttributeType: "Composite"
        }
    }
}
