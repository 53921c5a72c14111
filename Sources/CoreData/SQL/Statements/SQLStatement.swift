import Foundation

/// A statement as a value: its text, and what is bound to each `?` in it.
package struct SQLStatement: Sendable {
    package var text: String
    package var bindings: [SQLBinding]

    package init(_ text: String, _ bindings: [SQLBinding] = []) {
        self.text = text
        self.bindings = bindings
    }

    /// The bound values, for tests and for debugging output.
    package func values(arguments: [Value] = []) throws -> [SQLValue] {
        try bindings.map { try $0.value(arguments: arguments) }
    }
}

/// A value that a database stores.
package enum SQLValue: Hashable, Sendable {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    case blob(Data)
}

/// What is bound to one `?`: a value, or one that the predicate's arguments say when the statement runs, so that the
/// text can be kept for all predicates of one format.
package enum SQLBinding: Sendable {
    case value(SQLValue)
    /// An argument of the predicate, converted.
    case argument(Int, BindingConversion)
    /// An element of an argument that is a collection, converted.
    case element(of: Int, at: Int, BindingConversion)

    /// The value, given the predicate's arguments.
    ///
    /// - Throws: an `NSError` for a value that no column can hold.
    package func value(arguments: [Value]) throws -> SQLValue {
        switch self {
        case .value(let value): return value
        case .argument(let index, let conversion):
            guard arguments.indices.contains(index) else { throw SQLError.missingArgument(index) }
            return try conversion.value(of: arguments[index])
        case .element(let index, let position, let conversion):
            guard arguments.indices.contains(index), case .collection(let elements) = arguments[index],
                elements.indices.contains(position)
            else { throw SQLError.missingArgument(index) }
            return try conversion.value(of: elements[position])
        }
    }
}
