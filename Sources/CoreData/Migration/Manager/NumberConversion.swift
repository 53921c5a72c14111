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
        guard source.type.isNumber, source.type.wholeNumbers == nil else { return nil }
        bounds = Self.bounds(of: destination.type)
        guard bounds != nil || destination.type == .booleanAttributeType else { return nil }
        (self.source, self.destination) = (source, destination)
    }

    /// The numbers that a type of whole numbers holds; nil for other types.
    private static func bounds(of type: NSAttributeType) -> ClosedRange<Double>? {
        type.wholeNumbers.map { Double($0.lowerBound)...Double($0.upperBound) }
    }

    /// A value that a mapping computed, as an attribute takes it: converted as one that is copied.
    static func converted(_ value: Any?, computedFor destination: AttributeLayout) -> Any? {
        let isBoolean = destination.type == .booleanAttributeType
        guard isBoolean || bounds(of: destination.type) != nil, let number = value as? NSNumber else { return value }
        let whole: NSNumber
        if let decimal = number as? NSDecimalNumber {
            whole = NSDecimalNumber(decimal: Self.whole(decimal.decimalValue))
        } else {
            whole = NSNumber(value: number.doubleValue.rounded(.towardZero))
        }
        // Whole numbers, which may have more digits than a fraction, are converted when they are set.
        guard number.doubleValue.isFinite, !whole.isEqual(to: number) else { return value }
        return isBoolean ? NSNumber(value: true) : whole
    }

    private static func whole(_ number: Decimal) -> Decimal {
        var (exact, whole) = (number, Decimal())
        NSDecimalRound(&whole, &exact, 0, exact.sign == .minus ? .up : .down)
        return whole
    }

    func converted(_ value: StoredValue) -> StoredValue {
        guard let number = value.objectValue(for: source) as? NSNumber else { return value }
        guard let bounds else { return .integer(number.isEqual(to: NSNumber(value: 0)) ? 0 : 1) }
        guard let decimal = number as? NSDecimalNumber else {
            let whole = number.doubleValue.rounded(.towardZero)
            guard bounds.contains(whole) else { return .object(UnacceptableValue(number)) }
            return StoredValue(whole, for: destination)
        }
        let whole = Self.whole(decimal.decimalValue)
        guard bounds.contains(NSDecimalNumber(decimal: whole).doubleValue) else {
            return .object(UnacceptableValue(number))
        }
        return StoredValue(whole, for: destination)
    }
}
