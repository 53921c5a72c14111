import CoreDataModel
import Foundation
import PredicateFormat

/// The values that differ between two runs of one statement: the predicate's arguments, the limit, the offset, and the
/// store that it runs on.
package struct BindingContext: Sendable {
    package var arguments: [Value] = []
    package var limit = 0
    package var offset = 0
    /// The store. Objects of other stores have none of its keys; nil for statements that are not compared with objects.
    package var store: StoreIdentity?

    package init(arguments: [Value] = [], limit: Int = 0, offset: Int = 0, store: StoreIdentity? = nil) {
        self.arguments = arguments
        self.limit = limit
        self.offset = offset
        self.store = store
    }

    /// The key of an object in the store; -1, which no object has, for an object of another store, and for one that was
    /// never saved.
    func key(of identifier: NSManagedObjectID) -> Int64 {
        guard let store, store.holds(identifier) else { return -1 }
        return identifier.key
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

    /// Whether both are the same value of the same type: 1 is not 1.0.
    func isSameConstant(as other: SQLBinding) -> Bool {
        guard case .constant(let own, _) = self, case .constant(let value, _) = other, self == other else {
            return false
        }
        return switch (own, value) {
        case (.integer, .integer), (.double, .double), (.string, .string), (.date, .date), (.uuid, .uuid): true
        default: false
        }
    }

    /// The value in a context.
    ///
    /// - Throws: an `NSError` for a value that no column can hold.
    package func value(_ context: BindingContext) throws -> SQLValue {
        switch self {
        case .value(let value): return value
        case .constant(let value, let conversion): return try conversion.value(of: value, context)
        case .given(let index): throw SQLError.missingArgument(index)
        case .argument(let index, let conversion):
            guard context.arguments.indices.contains(index) else { throw SQLError.missingArgument(index) }
            return try conversion.value(of: context.arguments[index], context)
        case .element(let index, let position, let conversion):
            guard context.arguments.indices.contains(index),
                case .collection(let elements) = context.arguments[index], elements.indices.contains(position)
            else { throw SQLError.missingArgument(index) }
            return try conversion.value(of: elements[position], context)
        case .list: throw SQLError.unsupported("an array as a value")
        case .limit: return .integer(context.limit > 0 ? Int64(context.limit) : -1)
        case .offset: return .integer(Int64(context.offset))
        }
    }
}
