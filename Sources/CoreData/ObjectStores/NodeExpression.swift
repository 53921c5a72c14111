import Foundation
import PredicateFormat

/// An expression over a group of nodes: `max:` and similar functions are computed over all of them, the rest of the
/// first one.
struct NodeExpression {
    /// Whether it computes something of all nodes of a group.
    let computesGroup: Bool

    private let tree: ExpressionTree
    private let entity: EntityLayout
    /// The whole expression, if it is the same for every group.
    private let compiled: CompiledExpression?

    /// - Throws: an `NSError` that names a key which the entity does not have, or which leads to many objects.
    init(_ tree: ExpressionTree, of entity: EntityLayout) throws {
        try PredicateKeys.checkOne(tree, of: entity)
        self.tree = tree
        self.entity = entity
        computesGroup = tree.aggregating(over: [], of: entity) != tree
        compiled = computesGroup ? nil : CompiledExpression(tree)
    }

    func value(of group: [NSAtomicStoreCacheNode]) -> Value {
        let code = compiled ?? CompiledExpression(tree.aggregating(over: group.map { .object($0) }, of: entity))
        return code.evaluate(group.first.map { .object($0) } ?? .null)
    }
}

/// A column of a dictionary fetch.
struct NodeColumn {
    let name: String

    private let expression: NodeExpression
    /// The attribute that the value comes from.
    private let attribute: AttributeLayout?
    private let declaredType: NSAttributeType

    /// - Throws: an `NSError` that names a key which the entity does not have, or which leads to many objects.
    init(_ column: FetchColumn, of entity: EntityLayout) throws {
        name = column.name
        switch column {
        case .keyPath(let path):
            let keys = path.split(separator: ".").map(String.init)
            expression = try NodeExpression(.keyPath(keys), of: entity)
            attribute = entity.attribute(at: keys)
            declaredType = .undefinedAttributeType
        case .expression(_, let computed, let type):
            expression = try NodeExpression(expressionTree(of: computed), of: entity)
            attribute = nil
            declaredType = type
        }
    }

    var computesGroup: Bool { expression.computesGroup }

    /// The value in its attribute's or its declared type: a Boolean, not 1.
    func value(of group: [NSAtomicStoreCacheNode]) -> Any? {
        guard let value = expression.value(of: group).any else { return nil }
        if let node = value as? NSAtomicStoreCacheNode { return node.objectID }
        if let attribute { return StoredValue(value, for: attribute).objectValue(for: attribute) }
        return declaredType.declaredValue(value)
    }
}

/// A condition on groups of nodes, in which columns are keys or variables.
struct NodeCondition {
    private let tree: PredicateTree
    private let entity: EntityLayout

    /// - Throws: an `NSError` that says why the condition cannot be evaluated.
    init(_ having: PredicateTree, of plan: FetchPlan) throws {
        tree = plan.resolvingColumns(in: having)
        entity = plan.entity
        try PlanEvaluation.check(tree, of: entity)
    }

    func holds(of group: [NSAtomicStoreCacheNode]) -> Bool {
        guard let first = group.first else { return false }
        return CompiledPredicate(tree.aggregating(over: group.map { .object($0) }, of: entity)).evaluate(first)
    }
}
