import Foundation

/// Converts numbers to another type as a migration in SQL does: fractions are cut off, every number but 0 is true, and
/// a number that does not fit is refused when the object is saved.
struct NumberConversion {
    private let source: AttributeLayout
    private let destination: AttributeLayout
    private let bounds: ClosedRange<Double>?

    /// The result is nil unless numbers with a fraction become whole numbers or Booleans: all others are converted when
    /// they are set.
    init?(from source: AttributeLayout, to destination: AttributeLayout) {
        switch source.type {
        case .doubleAttributeType, .floatAttributeType, .decimalAttributeType: break
        default: return nil
        }
        switch destination.type {
        case .integer16AttributeType: bounds = Double(Int16.min)...Double(Int16.max)
        case .integer32AttributeType: bounds = Double(Int32.min)...Double(Int32.max)
        case .integer64AttributeType: bounds = -0x1p63...0x1p63
        case .booleanAttributeType: bounds = nil
        default: return nil
        }
        (self.source, self.destination) = (source, destination)
    }

    func converted(_ value: StoredValue) -> StoredValue {
        guard let number = value.objectValue(for: source) as? NSNumber else { return value }
        guard let bounds else { return .integer(number.isEqual(to: NSNumber(value: 0)) ? 0 : 1) }
        guard bounds.contains(number.doubleValue) else { return .object(UnacceptableValue(number)) }
        guard let decimal = number as? NSDecimalNumber else {
            return StoredValue(number.doubleValue.rounded(.towardZero), for: destination)
        }
        var (exact, whole) = (decimal.decimalValue, Decimal())
        NSDecimalRound(&whole, &exact, 0, exact.sign == .minus ? .up : .down)
        return StoredValue(whole, for: destination)
    }
}
