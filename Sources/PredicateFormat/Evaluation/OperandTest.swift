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
