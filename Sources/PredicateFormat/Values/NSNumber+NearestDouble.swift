import Foundation

extension NSNumber {
    /// The fraction nearest to the number, as databases and `Double(_:)` read its digits. Foundation's `doubleValue` of
    /// a decimal on Linux often is another one: 19.990000000000002 for 19.99.
    package var nearestDouble: Double {
        guard let decimal = self as? NSDecimalNumber else { return doubleValue }
        return Double(decimal.description(withLocale: nil)) ?? doubleValue
    }
}

extension NSDecimalNumber {
    /// The number as an integer; nil if it has a fraction or is too large.
    package var wholeNumber: Int64? { Int64(description(withLocale: nil)) }
}
