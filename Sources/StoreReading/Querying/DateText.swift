import Foundation

/// Dates as people type them, in UTC: `2024-05-01`, `2024-05-01 13:30`, `2024-05-01T13:30:15.250Z`. Pure.
package enum DateText {
    /// The date of a text; nil if it is not a date.
    package static func date(_ text: String) -> Date? {
        let scanner = text.trimmingCharacters(in: .whitespaces)
        let parts = scanner.split(maxSplits: 1, whereSeparator: { $0 == "T" || $0 == " " })
        guard let first = parts.first else { return nil }
        // A year before year 1 has a sign.
        let isBefore = first.hasPrefix("-")
        let day = first.drop { $0 == "-" }.split(separator: "-", omittingEmptySubsequences: false)
        guard day.count == 3, (4...7).contains(day[0].count), let year = number(day[0]), let month = number(day[1]),
            let dayOfMonth = number(day[2])
        else { return nil }
        let date = CalendarDate(year: isBefore ? -year : year, month: month, day: dayOfMonth)
        guard date.isValid else { return nil }
        let days = date.daysSince2001
        var (seconds, fraction) = (0, 0.0)
        if parts.count == 2 {
            guard let time = time(parts[1]) else { return nil }
            (seconds, fraction) = time
        }
        // Rounded once, so that what ``TextTools/iso8601(_:)`` writes is the same again.
        return Date(timeIntervalSinceReferenceDate: Double(days * 86_400 + seconds) + fraction)
    }

    /// Seconds since the day began in UTC, and their fraction.
    private static func time(_ text: Substring) -> (Int, Double)? {
        var (rest, offset) = (text, 0)
        if rest.hasSuffix("Z") || rest.hasSuffix("z") {
            rest = rest.dropLast()
        } else if let sign = rest.lastIndex(where: { $0 == "+" || $0 == "-" }) {
            let zone = rest[rest.index(after: sign)...].filter { $0 != ":" }
            guard zone.count == 4, let value = Int(zone) else { return nil }
            offset = (value / 100 * 3600 + value % 100 * 60) * (rest[sign] == "-" ? -1 : 1)
            rest = rest[..<sign]
        }
        if rest.hasSuffix(" UTC") { rest = rest.dropLast(4) }
        let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, let hour = number(parts[0]), let minute = number(parts[1]),
            hour < 24,
            minute < 60
        else { return nil }
        let start = hour * 3600 + minute * 60 - offset
        guard parts.count == 3 else { return (start, 0) }
        let digits = parts[2].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let second = number(digits[0]), second < 61 else { return nil }
        guard digits.count == 2 else { return (start + second, 0) }
        guard !digits[1].isEmpty, isDigits(digits[1]), let fraction = Double("0." + digits[1]) else { return nil }
        return (start + second, fraction)
    }

    private static func number(_ text: Substring) -> Int? { isDigits(text) ? Int(text) : nil }

    private static func isDigits(_ text: Substring) -> Bool { text.utf8.allSatisfy { (0x30...0x39).contains($0) } }
}
