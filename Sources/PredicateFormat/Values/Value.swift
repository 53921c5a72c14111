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

extension Value: Hashable {
    // Not inlined, here and below: the optimizer would copy both to every use of a set of values.
    @inline(never)
    package static func == (first: Value, second: Value) -> Bool {
        switch (first, second) {
        case (.integer(let a), .integer(let b)): return a == b
        case (.string(let a), .string(let b)): return a.isLiterallyEqual(to: b)
        case (.object(let a), .object(let b)): return a == b
        case (.null, .null): return true
        case (.double(let a), .double(let b)): return a == b
        case (.date(let a), .date(let b)): return a == b
        case (.uuid(let a), .uuid(let b)): return a == b
        case (.data(let a), .data(let b)): return a == b
        case (.url(let a), .url(let b)): return a == b
        case (.collection(let a), .collection(let b)): return a == b
        default: return first.comparison(with: second) == .orderedSame
        }
    }

    @inline(never)
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        // Equal numbers have the same hash, also across types, and so has a date with the number of its seconds.
        case .integer(let value): hasher.combine(Double(value))
        case .double(let value): hasher.combine(value)
        case .decimal(let value): hasher.combine(value.nearestDouble)
        case .string(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate)
        case .data(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .url(let value): hasher.combine(value)
        case .collection(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}

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

extension NSNumber {
    /// The number in the form that Apple's Foundation prints: a whole number has no fraction, whatever its type.
    /// Foundation on Linux prints `2.0`.
    package var plainText: String {
        let text = stringValue
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// An object among the operands of a predicate; equal to another if both stand for the same thing.
///
/// A managed object equals its object identifier: `author == %@` takes either.
///
/// - Note: `@unchecked Sendable`: a predicate only holds the reference and compares identities, which never change.
///   Reading the object's keys happens on the thread that evaluates, where the caller must be allowed to use it, as
///   with Apple's predicates.
package struct ObjectReference: Hashable, @unchecked Sendable {
    /// The object, or the adapter that reads its keys.
    package let operand: any KeyedOperand

    package init(_ operand: any KeyedOperand) {
        self.operand = operand
    }

    /// The object itself, without its adapter.
    package var object: AnyObject { operand.operandObject }

    package static func == (first: ObjectReference, second: ObjectReference) -> Bool {
        if first.operand === second.operand { return true }
        let identity = first.operand.operandIdentity
        let other = second.operand.operandIdentity
        return identity === other || identity.isEqual(other)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(operand.operandIdentity)
    }
}
