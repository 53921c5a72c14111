import Foundation

/// One value of a row, in the form that stores and objects exchange: small, without boxes on the hot path.
///
/// Integers and Booleans of every width are `.integer`, floating-point numbers of both widths `.double`; the
/// attribute's type determines the `NSNumber`.
package enum StoredValue: @unchecked Sendable {
    // @unchecked Sendable: the objects in `.object` are immutable (NSDecimalNumber, NSURL, NSDictionary) or the
    // developer's transformable values, which Core Data shares between snapshots as well.

    /// No value.
    case null
    /// An integer or a Boolean.
    case integer(Int64)
    /// A floating-point number.
    case double(Double)
    /// A string.
    case string(String)
    /// Seconds since 2001-01-01 00:00 UTC.
    case date(Double)
    /// Bytes.
    case data(Data)
    /// A UUID.
    case uuid(UUID)
    /// The destination of a to-one relationship.
    case identifier(NSManagedObjectID)
    /// A decimal number, a URL, a transformable value, a composite value, or a value of a wrong type that validation
    /// will refuse (`UnacceptableValue`).
    case object(NSObject)

    /// Whether there is no value.
    @inlinable package var isNull: Bool {
        if case .null = self { return true }
        return false
    }
}

extension StoredValue: Equatable {
    package static func == (left: StoredValue, right: StoredValue) -> Bool {
        switch (left, right) {
        case (.null, .null): return true
        case let (.integer(a), .integer(b)): return a == b
        case let (.double(a), .double(b)): return a == b || (a.isNaN && b.isNaN)
        case let (.string(a), .string(b)): return haveSameBytes(a, b)
        case let (.date(a), .date(b)): return a == b
        case let (.data(a), .data(b)): return a == b
        case let (.uuid(a), .uuid(b)): return a == b
        case let (.identifier(a), .identifier(b)): return a === b || a.isEqual(b)
        case let (.object(a), .object(b)): return a === b || a.isEqual(b) && haveSameTexts(a, b)
        default: return false
        }
    }

    /// Whether values that are equal have texts of the same bytes in them, too.
    package static func haveSameTexts(_ left: Any, _ right: Any) -> Bool {
        switch (left, right) {
        case let (left as String, right as String): haveSameBytes(left, right)
        case let (left as NSArray, right as NSArray): zip(left, right).allSatisfy(haveSameTexts)
        case let (left as NSOrderedSet, right as NSOrderedSet): zip(left, right).allSatisfy(haveSameTexts)
        case let (left as NSSet, right as NSSet):
            left.allSatisfy { member in right.member(member).map { haveSameTexts(member, $0) } ?? false }
        case let (left as [AnyHashable: Any], right as [AnyHashable: Any]):
            left.allSatisfy { key, value in
                guard let place = right.index(forKey: key) else { return false }
                return haveSameTexts(key.base, right[place].key.base) && haveSameTexts(value, right[place].value)
            }
        default: true
        }
    }

    /// Compares bytes: strings that are canonically equivalent but have different bytes are different values.
    private static func haveSameBytes(_ left: String, _ right: String) -> Bool {
        guard left.utf8.count == right.utf8.count else { return false }
        // A save compares all values of changed objects, most of which are identical, so memory is compared rather than
        // single characters.
        let areSame = left.utf8.withContiguousStorageIfAvailable { left in
            right.utf8.withContiguousStorageIfAvailable { right in
                guard let one = left.baseAddress, let other = right.baseAddress else { return true }
                return one == other || memcmp(one, other, left.count) == 0
            }
        }
        return (areSame ?? nil) ?? left.utf8.elementsEqual(right.utf8)
    }
}
