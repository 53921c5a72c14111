/// A predicate ready to be evaluated many times: its tree turned into closures, with regular expressions, folded strings and
/// sets of constants made once.
package final class CompiledPredicate: Sendable {
    typealias Test = @Sendable (Scope) -> Truth

    private let test: Test

    package init(_ tree: PredicateTree) {
        test = CompiledPredicate.compile(tree)
    }

    /// Whether an object satisfies the predicate.
    package func evaluate(_ object: Value, variables: [String: Value] = [:]) -> Bool {
        test(Scope(object: object, variables: variables)) == .true
    }

    /// Whether an object satisfies the predicate. The shortest way for objects that give operands themselves.
    package func evaluate(_ object: any KeyedOperand) -> Bool {
        test(Scope(object: .object(ObjectReference(object)))) == .true
    }

    static func compile(_ tree: PredicateTree) -> Test {
        switch tree {
        case .constant(let value):
            let truth = Truth(value)
            return { _ in truth }
        case .comparison(let comparison):
            return compile(comparison)
        case .not(let part):
            let test = compile(part)
            return { scope in test(scope).negated }
        case .and(let parts):
            return all(parts.map(compile))
        case .or(let parts):
            return any(parts.map(compile))
        }
    }

    private static func all(_ tests: [Test]) -> Test {
        { scope in
            var result = Truth.true
            for test in tests {
                switch test(scope) {
                case .false: return .false
                case .unknown: result = .unknown
                case .true: continue
                }
            }
            return result
        }
    }

    private static func any(_ tests: [Test]) -> Test {
        { scope in
            var result = Truth.false
            for test in tests {
                switch test(scope) {
                case .true: return .true
                case .unknown: result = .unknown
                case .false: continue
                }
            }
            return result
        }
    }

    private static func compile(_ comparison: ComparisonTree) -> Test {
        let left = CompiledExpression.compile(comparison.left)
        if case .constant(let constant) = comparison.right {
            let test = ValueTest.make(comparison.comparison, comparison.options, against: constant)
            return quantified(comparison.modifier, left) { value, _ in test(value) }
        }
        let right = CompiledExpression.compile(comparison.right)
        if case .constant(.null) = comparison.left {
            // `nil == name` asks the same as `name == nil`.
            if comparison.comparison == .equalTo { return { Truth(right($0).isNull) } }
            if comparison.comparison == .notEqualTo { return { Truth(!right($0).isNull) } }
        }
        let relation = ValueRelation.make(comparison.comparison, comparison.options)
        return quantified(comparison.modifier, left) { value, scope in relation(value, right(scope)) }
    }

    /// `ANY` and `ALL` are never unknown: they ask whether there is an element that (does not) satisfy the comparison.
    private static func quantified(
        _ modifier: ComparisonModifier, _ left: @escaping CompiledExpression.Code,
        _ test: @escaping @Sendable (Value, Scope) -> Truth
    ) -> Test {
        switch modifier {
        case .direct:
            return { scope in test(left(scope), scope) }
        case .any:
            return { scope in
                let value = left(scope)
                guard let elements = value.elements else { return Truth(test(value, scope) == .true) }
                return Truth(elements.contains { test($0, scope) == .true })
            }
        case .all:
            return { scope in
                let value = left(scope)
                guard let elements = value.elements else { return Truth(test(value, scope) == .true) }
                return Truth(elements.allSatisfy { test($0, scope) == .true })
            }
        }
    }
}
