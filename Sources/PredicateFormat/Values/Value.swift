import Foundation

/// A constant of a predicate, or an operand of its evaluation.
///
/// The enum replaces the `id` of Apple's implementation: a compact value that is compared without casts. Every number
/// except a decimal is an integer or a double; Booleans are the integers 0 and 1, as in a store.
///
/// Two values are equal if `isEqual(_:)` on Apple's platforms says so: numbers of all types by value, strings character
/// by character without canonical equivalence, objects by identity or their own `isEqual(_:)`.
package enum Value: Sendable {
    /// `nil`; the spelling `NULL` means the same.
    case null
    /// `42`; also `TRUE`, `YES` (1) and `FALSE`, `NO` (0).
    case integer(Int64)
    /// `4.2`
    case double(Double)
    /// `CAST("4.2", "NSDecimalNumber")`
    case decimal(NSDecimalNumber)
    /// `"text"` or `'text'`
    case string(String)
    /// `CAST(631152000.000000, "NSDate")`: seconds since the first moment of 2001, UTC.
    case date(Date)
    /// `CAST("YWJj", "NSData")`: base 64.
    case data(Data)
    /// `CAST("E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "NSUUID")`
    case uuid(UUID)
    /// `CAST("https://swift.org", "NSURL")`
    case url(URL)
    /// `{1, 2, 3}`: an array or a set; the values of a to-many relationship.
    case collection([Value])
    /// A managed object, an object identifier, or any other object. No format string can express it; it is passed as a
    /// `%@` argument.
    case object(ObjectReference)
}

extension Value {
    /// The value of a Boolean: 1 or 0.
    package static func boolean(_ value: Bool) -> Value {
        .integer(value ? 1 : 0)
    }

    /// An object that returns its values by key.
    package static func object(_ object: any KeyedOperand) -> Value {
        .object(ObjectReference(object))
    }

    /// Whether the value is `nil`.
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// The elements of a collection; nil for every other value.
    package var elements: [Value]? {
        if case .collection(let elements) = self { elements } else { nil }
    }
}
