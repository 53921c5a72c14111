import Foundation
import Synchronization

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

extension Value {
    /// The order of two values of one kind; nil if they have none: either is `nil` or NaN, they are of different kinds,
    /// or of a kind without an order (collections, objects).
    package func comparison(with other: Value) -> ComparisonResult? {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): return order(a, b)
        case (.string(let a), .string(let b)): return a.literalComparison(with: b)
        case (.date(let a), .date(let b)):
            return order(a.timeIntervalSinceReferenceDate, b.timeIntervalSinceReferenceDate)
        case (.uuid(let a), .uuid(let b)): return withUnsafeBytesCompared(a.uuid, b.uuid)
        case (.data(let a), .data(let b)): return bytesCompared(a, b)
        case (.url(let a), .url(let b)): return a.absoluteString.literalComparison(with: b.absoluteString)
        // A date beside a number is seconds since 2001, as a column holds it.
        case (.date(let date), _):
            return Value.double(date.timeIntervalSinceReferenceDate).numericComparison(with: other)
        case (_, .date(let date)): return numericComparison(with: .double(date.timeIntervalSinceReferenceDate))
        default: return numericComparison(with: other)
        }
    }

    /// The order of two numbers of any type, by value; nil if one of them is not a number.
    ///
    /// Decimals are compared exactly with each other and with integers, and as doubles with doubles, as in a store's
    /// columns.
    package func numericComparison(with other: Value) -> ComparisonResult? {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): return order(a, b)
        case (.double(let a), .double(let b)): return a.isNaN || b.isNaN ? nil : order(a, b)
        case (.integer(let a), .double(let b)): return exactComparison(a, b)
        case (.double(let a), .integer(let b)): return exactComparison(b, a)?.reversed
        case (.decimal(let a), .decimal(let b)): return order(a.decimalValue, b.decimalValue)
        case (.decimal(let a), .integer(let b)): return order(a.decimalValue, Decimal(b))
        case (.integer(let a), .decimal(let b)): return order(Decimal(a), b.decimalValue)
        case (.decimal(let a), .double(let b)): return b.isNaN ? nil : order(a.nearestDouble, b)
        case (.double(let a), .decimal(let b)): return a.isNaN ? nil : order(a, b.nearestDouble)
        default: return nil
        }
    }

    /// The value as a floating-point number, if it is a number.
    package var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): value.nearestDouble
        default: nil
        }
    }

    /// The value as an integer, if it is a whole number.
    package var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value)
        case .decimal(let value): value.wholeNumber
        default: nil
        }
    }
}

extension ComparisonResult {
    /// The opposite order.
    package var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedSame: .orderedSame
        case .orderedDescending: .orderedAscending
        }
    }
}

@inline(__always)
private func order<T: Comparable>(_ first: T, _ second: T) -> ComparisonResult {
    first < second ? .orderedAscending : first == second ? .orderedSame : .orderedDescending
}

/// Compares without rounding the integer to a double: 2^53 + 1 is more than 2^53.
private func exactComparison(_ integer: Int64, _ double: Double) -> ComparisonResult? {
    if double.isNaN { return nil }
    if double >= 0x1p63 { return .orderedAscending }
    if double < -0x1p63 { return .orderedDescending }
    let whole = double.rounded(.down)
    let comparison = order(integer, Int64(whole))
    if comparison == .orderedSame, whole < double { return .orderedAscending }
    return comparison
}

private func bytesCompared(_ first: Data, _ second: Data) -> ComparisonResult {
    if first.lexicographicallyPrecedes(second) { return .orderedAscending }
    return first == second ? .orderedSame : .orderedDescending
}

private func withUnsafeBytesCompared(_ first: uuid_t, _ second: uuid_t) -> ComparisonResult {
    withUnsafeBytes(of: first) { a in
        withUnsafeBytes(of: second) { b in
            if a.lexicographicallyPrecedes(b) { return .orderedAscending }
            return a.elementsEqual(b) ? .orderedSame : .orderedDescending
        }
    }
}

#if compiler(<6.2)
    /// Before Swift 6.2 the metatype of every type can be sent.
    package typealias SendableMetatype = Any
#endif

/// An object as an operand of a predicate: it returns values by key, without boxing, and has an identity for
/// comparisons.
///
/// Managed objects and object identifiers conform; other objects are wrapped in adapters.
package protocol KeyedOperand: AnyObject, SendableMetatype {
    /// The value under a key (not a key path). An unknown key is a programmer's error.
    func operand(forKey key: String) -> Value

    /// The same, for a key that is read from many objects.
    func operand(forKey key: OperandKey) -> Value

    /// Why the object has no value under a key; nil if it has one, or if that is only known when the value is read.
    func obstacle(toKey key: String) -> String?

    /// Whether a key path from the object passes a relationship to many objects. False if that is not known.
    func leadsToMany(_ keys: [String]) -> Bool

    /// Whether the last key of a path from the object is a relationship to many objects. False if that is not known.
    func endsToMany(_ keys: [String]) -> Bool

    /// The place of the object in an order of objects, that of a store's keys; nil if it has none.
    var orderKey: Int64? { get }

    /// The object that comparisons use, with `isEqual(_:)`: for a managed object, its identifier.
    var operandIdentity: NSObject { get }

    /// The user's object, if the operand is only an adapter.
    var operandObject: AnyObject { get }

    /// Another object of the same class as an operand. A conforming class can convert it without asking the runtime for
    /// the conformance, which takes longer than a comparison.
    ///
    /// - Parameter object: an object whose class is exactly that of an object known to be an operand of this type.
    /// - Returns: the object as an operand.
    static func operand(_ object: NSObject) -> any KeyedOperand
}

/// A key that is read from many objects, with its number if a model has a property of that name.
package struct OperandKey: Sendable {
    package let name: String
    /// See ``PropertyKey``.
    package let number: Int?

    init(_ name: String) {
        self.name = name
        number = PropertyKey.number(of: name)
    }
}

/// An object that `FETCH(…)` runs: a fetch request.
package protocol FetchingOperand: AnyObject {
    /// The results in a context, as a collection or, with `countOnly`, as a number.
    func fetchedValue(in context: Any?, countOnly: Bool) -> Value
}

extension KeyedOperand {
    package func operand(forKey key: OperandKey) -> Value { operand(forKey: key.name) }

    package func obstacle(toKey key: String) -> String? { nil }

    package func leadsToMany(_ keys: [String]) -> Bool { false }

    package func endsToMany(_ keys: [String]) -> Bool { false }

    package var orderKey: Int64? { nil }

    package var operandObject: AnyObject { self }

    package static func operand(_ object: NSObject) -> any KeyedOperand {
        guard let operand = object as? any KeyedOperand else { return adapter(for: object) }
        return operand
    }
}

extension KeyedOperand where Self: NSObject {
    package var operandIdentity: NSObject { self }

    package static func operand(_ object: NSObject) -> any KeyedOperand {
        // The caller has checked that the object is of the conforming class or a subclass. Debug builds check it.
        unsafeDowncast(object, to: Self.self)
    }
}

/// Property names as small integers, so that generated accessors and predicates find a value without hashing a string.
package enum PropertyKey {
    private static let table = Mutex<[String: Int]>([:])

    /// The number of a name: the same for every model, as long as the process runs.
    package static func intern(_ name: String) -> Int {
        table.withLock { table in
            if let known = table[name] { return known }
            let number = table.count
            table[name] = number
            return number
        }
    }

    /// The number of a name that a model has; nil for others, since names from format strings must not fill the table.
    package static func number(of name: String) -> Int? {
        table.withLock { $0[name] }
    }
}
