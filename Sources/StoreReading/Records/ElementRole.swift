import CoreData
import StoreEngine

/// What an element of a composite attribute is to the value, as far as the model tells.
package enum ElementRole: Equatable, Sendable {
    /// A member of a struct.
    case member
    /// The raw value of an enumeration of SwiftData's, which keeps it in one element with the attribute's name.
    case rawValue
    /// Perhaps a case of an enumeration of SwiftData's, which has an element for each: the case's own name, or the
    /// elements of its associated values.
    case enumerationCase(isOptional: Bool)

    /// The role of the elements of an attribute.
    init(of attribute: AttributeLayout) {
        let elements = attribute.elements
        let areOptional = elements.allSatisfy { $0.description.isOptional }
        if elements.count == 1, let only = elements.first, only.name == attribute.name, areOptional,
            only.type == .stringAttributeType || only.type.isNumber
        {
            self = .rawValue
        } else if areOptional,
            elements.allSatisfy({ $0.type == .stringAttributeType || $0.type == .compositeAttributeType })
        {
            self = .enumerationCase(isOptional: attribute.description.isOptional)
        } else {
            self = .member
        }
    }
}

extension FieldValue {
    /// The value of an enumeration of SwiftData's; nil for any other value.
    package enum EnumerationValue: Equatable {
        case raw(FieldValue)
        case named(String, associated: [Element])
    }

    /// The enumeration's value that a composite value is.
    ///
    /// Elements that are all optional may be a struct's, too. The name of a case is its own value; associated values
    /// without labels are `_0`, `_1`; those with labels are taken for some where the attribute is not optional, since
    /// all elements of an optional one are.
    package var enumerationValue: EnumerationValue? {
        guard case .composite(let elements) = self, let first = elements.first else { return nil }
        if first.role == .rawValue { return elements.count == 1 ? .raw(first.value) : nil }
        guard case .enumerationCase(let isOptional) = first.role else { return nil }
        let present = elements.filter { $0.value != .null }
        guard present.count == 1, let chosen = present.first else { return nil }
        switch chosen.value {
        case .string(chosen.name): return .named(chosen.name, associated: [])
        case .composite(let values) where !isOptional || values.allSatisfy({ Self.position($0.name) != nil }):
            return .named(chosen.name, associated: values)
        default: return nil
        }
    }

    /// The position of an associated value without a label.
    private static func position(_ name: String) -> Int? { name.first == "_" ? Int(name.dropFirst()) : nil }

    /// The name that an associated value is shown with; nil for one without a label.
    package static func label(_ name: String) -> String? { position(name) == nil ? name : nil }
}

/// How many rows are read at a time: many short ones, few whose values fill the memory. Pure.
package struct PortionSize {
    /// How many rows to read next.
    package private(set) var count = 1
    private let most: Int

    /// - Parameter most: how many at most.
    package init(most: Int = 500) { self.most = most }

    /// Follows the sizes of the values of a portion.
    package mutating func follow(_ rows: some Sequence<Row>) {
        let bytes = rows.reduce(0) { $0 + $1.byteCount }
        if bytes > 1 << 20 { count = max(1, count / 2) } else if bytes < 1 << 18 { count = min(most, count * 2) }
    }
}
