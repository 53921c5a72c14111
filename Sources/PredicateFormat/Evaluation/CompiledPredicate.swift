/// A predicate compiled for repeated evaluation: its tree is converted to closures, and regular expressions, folded
/// strings and sets of constants are made once.
package final class CompiledPredicate: Sendable {
    typealias Test = @Sendable (Scope) -> Bool

    private let test: Test
    private let operandTest: OperandTest.Code?
    private let assigns: Bool

    package init(_ tree: PredicateTree) {
        test = CompiledPredicate.compile(tree)
        operandTest = OperandTest.make(tree)
        assigns = tree.assigns
    }

    /// Whether an object satisfies the predicate.
    package func evaluate(_ object: Value, variables: [String: Value] = [:]) -> Bool {
        test(Scope(object: object, variables: variables, assigns: assigns))
    }

    /// Whether an object satisfies the predicate. This is the fastest way for objects that are operands themselves.
    package func evaluate(_ object: any KeyedOperand) -> Bool {
        operandTest?(object) ?? test(Scope(object: .object(ObjectReference(object)), assigns: assigns))
    }

    static func compile(_ tree: PredicateTree) -> Test {
        switch tree {
        case .constant(let value):
            return { _ in value }
        case .comparison(let comparison):
            return compile(comparison)
        case .not(let part):
            let test = compile(part)
            return { scope in !test(scope) }
        case .and(let parts):
            let tests = parts.map(compile)
            if tests.count == 2 {
                let (first, second) = (tests[0], tests[1])
                return { scope in first(scope) && second(scope) }
            }
            return { scope in tests.allSatisfy { $0(scope) } }
        case .or(let parts):
            let tests = parts.map(compile)
            return { scope in tests.contains { $0(scope) } }
        }
    }

    private static func compile(_ comparison: ComparisonTree) -> Test {
        let comparison = comparison.findingObject { if case .constant(.object) = $0 { true } else { false } }
        let left =
            comparison.modifier == .direct
            ? CompiledExpression.compile(comparison.left) : CompiledExpression.compileElements(comparison.left)
        if case .constant(let constant) = comparison.right {
            let test = ValueTest.make(comparison.comparison, comparison.options, against: constant)
            switch comparison.modifier {
            case .direct where comparison.comparesOneValue:
                return { scope in
                    let value = left(scope)
                    comparison.demandOneValue(value, of: comparison.left)
                    return test(value)
                }
            case .direct: return { scope in test(left(scope)) }
            case .any: return { scope in left(scope).hasElement(where: test) }
            case .all: return { scope in !left(scope).hasElement { !test($0) } }
            }
        }
        let right = CompiledExpression.compile(comparison.right)
        let relation = ValueRelation.make(comparison.comparison, comparison.options)
        switch comparison.modifier {
        case .direct where comparison.comparesOneValue:
            return { scope in
                let (first, second) = (left(scope), right(scope))
                comparison.demandOneValue(first, of: comparison.left)
                if comparison.comparison != .between { comparison.demandOneValue(second, of: comparison.right) }
                return relation(first, second)
            }
        case .direct: return { scope in relation(left(scope), right(scope)) }
        case .any:
            return { scope in
                let other = right(scope)
                return left(scope).hasElement { relation($0, other) }
            }
        case .all:
            return { scope in
                let other = right(scope)
                return !left(scope).hasElement { !relation($0, other) }
            }
        }
    }
}

extension Value {
    /// Whether a collection has an element for which a test is true. A value that is not a collection is its own
    /// element.
    fileprivate func hasElement(where test: (Value) -> Bool) -> Bool {
        guard case .collection(let elements) = self else { return test(self) }
        return elements.contains(where: test)
    }
}

/// The usual predicate, which compares keys with constants, as a function of the object alone, to avoid the reference
/// counting of a scope.
enum OperandTest {
    typealias Code = @Sendable (any KeyedOperand) -> Bool

    /// Nil for a predicate with any other part.
    static func make(_ tree: PredicateTree) -> Code? {
        switch tree {
        case .constant: return nil
        case .not(let part):
            guard let test = make(part) else { return nil }
            return { operand in !test(operand) }
        case .and(let parts):
            guard let tests = all(parts) else { return nil }
            return { operand in tests.allSatisfy { $0(operand) } }
        case .or(let parts):
            guard let tests = all(parts) else { return nil }
            return { operand in tests.contains { $0(operand) } }
        case .comparison(let comparison): return make(comparison)
        }
    }

    private static func make(_ comparison: ComparisonTree) -> Code? {
        guard case .keyPath(let keys) = comparison.left, keys.count == 1, let name = keys.first, !name.hasPrefix("@"),
            case .constant(let constant) = comparison.right, comparison.modifier == .direct
        else { return nil }
        let key = OperandKey(name)
        let test = ValueTest.make(comparison.comparison, comparison.options, against: constant)
        guard comparison.comparesOneValue else { return { operand in test(operand.operand(forKey: key)) } }
        return { operand in
            let value = operand.operand(forKey: key)
            if case .collection = value { comparison.demandOneValue(value, of: comparison.left) }
            return test(value)
        }
    }

    private static func all(_ parts: [PredicateTree]) -> [Code]? {
        let tests = parts.compactMap { make($0) }
        return tests.count == parts.count ? tests : nil
    }
}
