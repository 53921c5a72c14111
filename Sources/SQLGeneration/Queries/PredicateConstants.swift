import CoreDataModel

// What constants are.
extension PredicateSQL {
    /// The value of a constant or an argument.
    func constant(_ tree: ExpressionTree) -> Value? {
        switch tree {
        case .constant(let value): return value
        case .argument(let index): return arguments.indices.contains(index) ? arguments[index] : nil
        case .element(of: .argument(let index), at: .at(.constant(.integer(let position)))):
            guard arguments.indices.contains(index), let elements = arguments[index].elements else { return nil }
            return elements.indices.contains(Int(position)) ? elements[Int(position)] : .null
        default: return nil
        }
    }

    func isConstant(_ tree: ExpressionTree) -> Bool { constant(tree) != nil }

    /// The object that a constant or an argument is; nil for everything else.
    func object(_ tree: ExpressionTree) -> Value? {
        guard let value = constant(tree), case .object = value else { return nil }
        return value
    }

    func isNull(_ tree: ExpressionTree) -> Bool {
        if case .null? = constant(tree) { return true }
        return false
    }

    func isNotANumber(_ tree: ExpressionTree) -> Bool {
        if case .double(let number)? = constant(tree) { return number.isNaN }
        return false
    }

    func isString(_ tree: ExpressionTree) -> Bool {
        if case .string? = constant(tree) { return true }
        return false
    }

    /// The elements of a collection that is spelled out in a predicate, or given as an argument.
    func elements(of tree: ExpressionTree) throws -> [ExpressionTree] {
        switch tree {
        case .aggregate(let elements): return elements
        case .constant(.collection(let values)): return values.map { .constant($0) }
        case .argument:
            guard case .collection(let values)? = constant(tree) else { break }
            // Looked up when the statement runs, so that the text can be reused for other values.
            return values.indices.map { .element(of: tree, at: .at(.constant(.integer(Int64($0))))) }
        default: break
        }
        throw SQLError.unsupported("a collection that is neither a constant nor a to-many relationship")
    }
}

extension ExpressionTree {
    /// Whether it is a value of the predicate, or an argument that may not be there yet.
    var isGiven: Bool {
        switch self {
        case .constant, .argument, .element(of: .argument, _): true
        default: false
        }
    }
}
