import CoreDataModel
import Foundation
import PredicateFormat

/// The values that differ between two runs of one statement: the predicate's arguments, the limit and the offset.
package struct BindingContext: Sendable {
    package var arguments: [Value] = []
    package var limit = 0
    package var offset = 0

    package init(arguments: [Value] = [], limit: Int = 0, offset: Int = 0) {
        self.arguments = arguments
        self.limit = limit
        self.offset = offset
    }
}

/// A value that a database stores.
package enum SQLValue: Sendable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    case blob(Data)
}

// As a database compares: texts with different bytes are different values, even if they are canonically equivalent.
extension SQLValue: Hashable {
    package static func == (left: SQLValue, right: SQLValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.text(let a), .text(let b)): a.isLiterallyEqual(to: b)
        case (.blob(let a), .blob(let b)): a == b
        default: false
        }
    }

    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let number): hasher.combine(number)
        case .double(let number): hasher.combine(number)
        case .text(let text): hasher.combine(text)
        case .blob(let data): hasher.combine(data)
        }
    }
}

/// The binding of one parameter: a value, or a reference to the predicate's arguments, which is resolved when the
/// statement runs, so that the text can be reused for all predicates of one format.
package enum SQLBinding: Sendable, Equatable {
    case value(SQLValue)
    /// A value of the predicate, converted.
    case constant(Value, BindingConversion)
    /// A value of the caller that runs the statement, by its number.
    case given(Int)
    /// An argument of the predicate, converted.
    case argument(Int, BindingConversion)
    /// An element of an argument that is a collection, converted.
    case element(of: Int, at: Int, BindingConversion)
    /// Several values as one array, for databases that have arrays.
    case list([SQLBinding])
    /// The fetch limit; -1 for none.
    case limit
    case offset

    /// Whether the value is a constant of a predicate.
    var isOfCondition: Bool {
        switch self {
        case .constant, .argument, .element: true
        case .value, .given, .list, .limit, .offset: false
        }
    }

    /// The value in a context.
    ///
    /// - Throws: an `NSError` for a value that no column can hold.
    package func value(_ context: BindingContext) throws -> SQLValue {
        switch self {
        case .value(let value): return value
        case .constant(let value, let conversion): return try conversion.value(of: value)
        case .given(let index): throw SQLError.missingArgument(index)
        case .argument(let index, let conversion):
            guard context.arguments.indices.contains(index) else { throw SQLError.missingArgument(index) }
            return try conversion.value(of: context.arguments[index])
        case .element(let index, let position, let conversion):
            guard context.arguments.indices.contains(index),
                case .collection(let elements) = context.arguments[index], elements.indices.contains(position)
            else { throw SQLError.missingArgument(index) }
            return try conversion.value(of: elements[position])
        case .list: throw SQLError.unsupported("an array as a value")
        case .limit: return .integer(context.limit > 0 ? Int64(context.limit) : -1)
        case .offset: return .integer(Int64(context.offset))
        }
    }
}
