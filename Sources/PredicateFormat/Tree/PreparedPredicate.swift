/// A predicate in two parts, for caching what is derived from it (SQL): a skeleton, and the constants to put into it.
///
/// Predicates from one format string share the skeleton and its ``identity``, and differ only in their ``arguments``,
/// so that SQL generated for one can be reused for the next with other bindings:
///
///     NSPredicate(format: "uid == %@", "a")     skeleton  keyPath(["uid"]) == argument(0)     arguments  ["a"]
///     NSPredicate(format: "uid == %@", "b")     the same                                      arguments  ["b"]
///
/// The SQL may depend on an argument's kind (`= ?` or `IS NULL`; one `?` for each element of a collection), but on
/// nothing else of it: ``SkeletonKey`` combines the skeleton's identity with the kinds.
package struct PreparedPredicate: Sendable {
    /// The predicate with ``ExpressionTree/argument(_:)`` in place of its arguments. Literals in the format string stay
    /// where they are.
    package let skeleton: PredicateTree
    /// A number for the skeleton, the same as long as the process runs; nil if it has no number.
    package let identity: Int?
    /// The values for the skeleton's arguments, by index.
    package let arguments: [Value]
    /// Whether paths start at constants or arguments, or something is computed of these.
    package let hasConstantParts: Bool
    /// Whether a literal text spells a UUID or a number.
    let hasSpelledValues: Bool

    package init(
        skeleton: PredicateTree, identity: Int?, arguments: [Value], hasConstantParts: Bool? = nil,
        hasSpelledValues: Bool? = nil
    ) {
        self.skeleton = skeleton
        self.identity = identity
        self.arguments = arguments
        self.hasConstantParts = hasConstantParts ?? skeleton.hasConstantParts
        self.hasSpelledValues = hasSpelledValues ?? skeleton.hasSpelledValues
    }

    /// Splits a predicate that was not made from a format string: the constants on the sides of its comparisons become
    /// arguments, so that `\Person.age > 30` and `\Person.age > 31` share cached results.
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

    /// The key for caching generated SQL.
    package var key: SkeletonKey {
        var shapes = arguments.map(\.shape)
        if identity == nil { skeleton.forEachConstant { shapes.append($0.shape) } }
        return SkeletonKey(identity: identity, skeleton: identity == nil ? skeleton : nil, shapes: shapes)
    }
}

/// Identifies all predicates that result in the same SQL for the same request, apart from bound values.
package struct SkeletonKey: Hashable, Sendable {
    let identity: Int?
    let skeleton: PredicateTree?
    /// Those of the arguments, and of the skeleton's constants: 2 equals 2.0, and its SQL is another one.
    let shapes: [ValueShape]
}

/// The kind of an argument, as far as generated SQL depends on it.
package enum ValueShape: Hashable, Sendable {
    case null, integer, double, notANumber, decimal, string, date, data, uuid, url, object
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
        case .double(let number): return number.isNaN ? .notANumber : .double
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

/// The content of a predicate, as a value. Two are equal if both have the same parts in the same order.
///
/// Obtained from any predicate by ``predicateTree(of:)``.
package indirect enum PredicateTree: Hashable, Sendable {
    /// `TRUEPREDICATE`, `FALSEPREDICATE`
    case constant(Bool)
    /// `age >= 18`
    case comparison(ComparisonTree)
    /// `a AND b AND c`; true without parts.
    case and([PredicateTree])
    /// `a OR b OR c`; false without parts.
    case or([PredicateTree])
    /// `NOT a`
    case not(PredicateTree)
}
