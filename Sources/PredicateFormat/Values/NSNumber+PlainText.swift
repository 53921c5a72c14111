import Foundation

extension NSNumber {
    /// The number in the form that Apple's Foundation prints: a whole number has no fraction, whatever its type.
    /// Foundation on Linux prints `2.0`.
    package var plainText: String {
        let text = stringValue
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
