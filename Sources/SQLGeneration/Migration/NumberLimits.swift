import CompactCollections
import CoreDataModel

/// The numbers of a former attribute that its present type can hold. Pure.
package enum NumberLimits: Equatable, Sendable {
    /// Between two whole numbers; a fraction is cut off.
    case between(ClosedRange<Int64>)
    /// Floating-point numbers from one on, and below another. PostgreSQL rounds a whole number in 64 bits that it
    /// compares with them, the greatest one to the first number that does not fit.
    case below(Range<Double>)
    /// 0, and numbers that are not larger than a type's greatest one, or infinite.
    case atMost(Double)
    /// 0, and numbers of such a size.
    case sizes(ClosedRange<Double>)

    /// The first number that is rounded to infinity in 32 bits.
    private static let beyondFloat = 0x1.ffffffp127
    /// Decimals have 38 digits, and exponents from -128 to 127, of which a number of 20 digits needs some itself.
    private static let decimals = 1e-108...1e146

    /// The limits; nil if all former numbers fit.
    package init?(from source: AttributeLayout, to destination: AttributeLayout) {
        guard source.type != destination.type, source.type != .booleanAttributeType else { return nil }
        switch (source.type, destination.type) {
        case (_, .integer16AttributeType): self = .between(Int64(Int16.min)...Int64(Int16.max))
        case (.integer16AttributeType, _): return nil
        case (_, .integer32AttributeType): self = .between(Int64(Int32.min)...Int64(Int32.max))
        case (.integer32AttributeType, _), (.integer64AttributeType, _): return nil
        case (.doubleAttributeType, .integer64AttributeType), (.floatAttributeType, .integer64AttributeType):
            self = .below(-0x1p63..<0x1p63)
        case (_, .integer64AttributeType): self = .between(.min ... .max)
        case (.doubleAttributeType, .floatAttributeType), (.decimalAttributeType, .floatAttributeType):
            self = .atMost(Self.beyondFloat.nextDown)
        case (.doubleAttributeType, .decimalAttributeType), (.floatAttributeType, .decimalAttributeType):
            self = .sizes(Self.decimals)
        default: return nil
        }
    }

    /// The condition on a number that it is not within the limits, which no NULL fulfils.
    package func areExceeded(by number: SQLFragment) -> SQLFragment {
        switch self {
        case .between(let bounds) where bounds.lowerBound > .min && bounds.upperBound < .max:
            "NOT (\(number) > \(number: bounds.lowerBound - 1) AND \(number) < \(number: bounds.upperBound + 1))"
        case .between(let bounds):
            "\(number) NOT BETWEEN \(number: bounds.lowerBound) AND \(number: bounds.upperBound)"
        case .below(let bounds):
            "NOT (\(number) >= \(literal: .double(bounds.lowerBound)) AND \(number) < \(literal: .double(bounds.upperBound)))"
        case .atMost(let greatest):
            "abs(\(number)) > \(literal: .double(greatest)) AND abs(\(number)) <= \(literal: .double(.greatestFiniteMagnitude))"
        case .sizes(let sizes):
            "\(number) <> 0 AND abs(\(number)) NOT BETWEEN \(literal: .double(sizes.lowerBound)) AND \(literal: .double(sizes.upperBound))"
        }
    }
}
