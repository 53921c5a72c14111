import Foundation

extension NSNumber {
    /// The number as Apple's Foundation describes it: a whole number has no fraction, whatever its type. Foundation on Linux
    /// writes `2.0`.
    package var plainText: String {
        let text = stringValue
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
