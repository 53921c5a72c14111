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
