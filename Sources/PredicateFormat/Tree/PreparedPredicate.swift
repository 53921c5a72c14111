/// A predicate in two parts, for a cache of what it becomes (SQL): a skeleton, and the constants to put into it.
///
/// Predicates of one format string share the skeleton and its ``identity``, and differ in their ``arguments`` alone, so
/// that SQL generated for one serves the next with other bindings:
///
///     NSPredicate(format: "uid == %@", "a")     skeleton  keyPath(["uid"]) == argument(0)     arguments  ["a"]
///     NSPredicate(format: "uid == %@", "b")     the same                                      arguments  ["b"]
///
/// What SQL comes out may depend on an argument's kind (`= ?` or `IS NULL`; one `?` an element of a collection), never
/// on more: ``SkeletonKey`` holds the skeleton's identity together with the kinds.
package struct PreparedPredicate: Sendable {
    /// The predicate with ``ExpressionTree/argument(_:)`` in place of its arguments. Constants spelled out in the format
    /// string stay where they are.
    package let skeleton: PredicateTree
    /// The same number for the same skeleton, while the process runs; nil where nobody has numbered it.
    package let identity: Int?
    /// The values for the skeleton's arguments, by index.
    package let arguments: [Value]
    /// Whether paths start at constants or arguments.
    package let hasConstantPaths: Bool
    /// Whether a text that is spelled out spells a UUID.
    let hasUUIDTexts: Bool

    package init(
        skeleton: PredicateTree, identity: Int?, arguments: [Value], hasConstantPaths: Bool? = nil,
        hasUUIDTexts: Bool? = nil
    ) {
        self.skeleton = skeleton
        self.identity = identity
        self.arguments = arguments
        self.hasConstantPaths = hasConstantPaths ?? skeleton.hasConstantPaths
        self.hasUUIDTexts = hasUUIDTexts ?? skeleton.hasUUIDTexts
    }

    /// Takes apart a predicate that no format string made: the constants on the sides of its comparisons become arguments, so that
    /// `\Person.age > 30` and `\Person.age > 31` share what is cached.
    package init(parameterizing tree: PredicateTree) {
        var constants: [Value] = []
        let skeleton = tree.mapSides { side in
            guard case .constant(let value) = side else { return side }
            constants.append(value)
            return .argument(constants.count - 1)
        }
        self.init(skeleton: skeleton, identity: nil, arguments: constants)
    }

    /// The predicate with its arguments in place.
    package var tree: PredicateTree {
        arguments.isEmpty ? skeleton : skeleton.replacingArguments(with: arguments)
    }

    /// What generated SQL may be cached by.
    package var key: SkeletonKey {
        SkeletonKey(identity: identity, skeleton: identity == nil ? skeleton : nil, shapes: arguments.map(\.shape))
    }
}

/// Identifies all predicates that become the same SQL for the same request, apart from bound values.
package struct SkeletonKey: Hashable, Sendable {
    let identity: Int?
    let skeleton: PredicateTree?
    let shapes: [ValueShape]
}

/// The kind of an argument, as far as generated SQL may depend on it.
package enum ValueShape: Hashable, Sendable {
    case null, integer, double, decimal, string, date, data, uuid, url, object
    /// A collection by the shapes of its elements.
    case collection([ValueShape])
    /// A collection whose elements all have one shape: the usual case, kept compact.
    indirect case uniformCollection(ValueShape, count: Int)
}

extension Value {
    /// The kind of the value.
    package var shape: ValueShape {
        switch self {
        case .null: return .null
        case .integer: return .integer
        case .double: return .double
        case .decimal: return .decimal
        case .string: return .string
        case .date: return .date
        case .data: return .data
        case .uuid: return .uuid
        case .url: return .url
        case .object: return .object
        case .collection(let elements):
            guard let first = elements.first?.shape else { return .collection([]) }
            if elements.allSatisfy({ $0.shape == first }) {
                return .uniformCollection(first, count: elements.count)
            }
            return .collection(elements.map(\.shape))
        }
    }
}
