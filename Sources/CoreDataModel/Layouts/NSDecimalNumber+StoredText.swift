import Foundation

extension NSDecimalNumber {
    /// The number in a text as SQLite writes it. A number that SQLite keeps in floating point has a fraction,
    /// `1.0e-128`, whose digit Foundation has no exponent for.
    ///
    /// - Parameter text: the text.
    /// - Returns: the number; not a number for a text that is none.
    package static func stored(_ text: String) -> NSDecimalNumber {
        guard let fraction = text.firstRange(of: ".0e-") else { return NSDecimalNumber(string: text) }
        return NSDecimalNumber(string: text.replacingCharacters(in: fraction, with: "e-"))
    }
}
