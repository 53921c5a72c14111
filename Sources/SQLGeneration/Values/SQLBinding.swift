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

    /// Whether the value is the key of an object.
    package var isKey: Bool {
        switch self {
        case .constant(_, .key), .argument(_, .key), .element(_, _, .key): true
        default: false
        }
    }

    /// The keys in the value of a list of keys.
    package static func keys(in bytes: Data) -> [Int64] {
        bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 7, by: 8).map {
                Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: $0, as: Int64.self))
            }
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
        case .list(let bindings):
            var bytes = Data(capacity: 8 * bindings.count)
            for binding in bindings {
                guard binding.isKey else { throw SQLError.unsupported("an array as a value") }
                // No object has the key of nothing.
                var key: Int64 = -1
                if case .integer(let known) = try binding.value(context) { key = known }
                withUnsafeBytes(of: key.littleEndian) { bytes.append(contentsOf: $0) }
            }
            return .blob(bytes)
        case .limit: return .integer(context.limit > 0 ? Int64(context.limit) : -1)
        case .offset: return .integer(Int64(context.offset))
        }
    }
}

/// The error for a valid request that SQL cannot express: a store in memory leaves it to callers that have the objects.
package final class UnsupportedInSQL: NSError, @unchecked Sendable {
    // @unchecked Sendable: errors do not change.
}

/// The errors of SQL generation, for parts of a request that SQL cannot express.
package enum SQLError {
    /// Something that SQL does not offer. Core Data raises an exception here; Pippin throws.
    package static func unsupported(_ what: String) -> NSError {
        let error = StoreError.make(
            CoreDataErrorCode.coreData, "A store in a database cannot fetch with \(what).",
            suggestion: "Fetch without this part, and filter the objects in memory.")
        return UnsupportedInSQL(domain: error.domain, code: error.code, userInfo: error.userInfo)
    }

    /// A derived attribute that a database does not compute.
    ///
    /// - Parameters:
    ///   - property: its entity and name.
    ///   - expression: its derivation.
    /// - Returns: the error.
    package static func underivable(_ property: String, _ expression: String) -> NSError {
        let error = StoreError.make(
            CoreDataErrorCode.coreData,
            "A store in a database cannot compute the derived attribute “\(property)”, whose expression is “\(expression)”; it may be an "
                + "attribute, one behind a to-one relationship, these in canonical:, uppercase: or lowercase:, now(), or @count, @sum, "
                + "@min, @max or @avg of a to-many relationship.",
            suggestion:
                "Derive it from one of these, or make it an attribute like others and set it when objects are saved.")
        return UnsupportedInSQL(domain: error.domain, code: error.code, userInfo: error.userInfo)
    }

    /// A constant that is not allowed at its place, or is not of the type of the column that it is compared with.
    package static func unfit(_ what: String) -> NSError {
        StoreError.make(CoreDataErrorCode.coreData, "The predicate cannot be used: \(what).")
    }

    static func missingArgument(_ index: Int) -> NSError {
        StoreError.make(CoreDataErrorCode.coreData, "The predicate has no argument \(index).")
    }
}
