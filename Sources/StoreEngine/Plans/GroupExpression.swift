import CoreDataModel
import PredicateFormat

/// An expression over a group of objects: `max:` and similar functions are computed over all of them, the rest of the
/// first one.
struct GroupExpression {
    /// Whether it computes something of all objects of a group.
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

    func value(of group: [Value]) -> Value {
        let code = compiled ?? CompiledExpression(tree.aggregating(over: group, of: entity))
        return code.evaluate(group.first ?? .null)
    }
}

/// A column of a dictionary fetch.
struct GroupColumn {
    let name: String

    private let expression: GroupExpression
    /// The attribute that the value comes from.
    private let attribute: AttributeLayout?
    private let declaredType: NSAttributeType

    /// - Throws: an `NSError` that names a key which the entity does not have, or which leads to many objects.
    init(_ column: FetchColumn, of entity: EntityLayout) throws {
        name = column.name
        switch column {
        case .keyPath(let path):
            let keys = path.split(separator: ".").map(String.init)
            expression = try GroupExpression(.keyPath(keys), of: entity)
            attribute = entity.attribute(at: keys)
            declaredType = .undefinedAttributeType
        case .expression(_, let computed, let type):
            expression = try GroupExpression(expressionTree(of: computed), of: entity)
            attribute = nil
            declaredType = type
        }
    }

    var computesGroup: Bool { expression.computesGroup }

    func value(of group: [Value]) -> Value { expression.value(of: group) }

    /// A value of the column in its attribute's or its declared type: a Boolean, not 1.
    func shown(_ value: Value) -> Any? {
        guard let any = value.any else { return nil }
        if case .object(let object) = value, let identifier = object.operand.operandIdentity as? NSManagedObjectID {
            return identifier
        }
        if let attribute { return StoredValue(any, for: attribute).objectValue(for: attribute) }
        return declaredType.declaredValue(any)
    }
}

/// A condition on groups of objects, in which columns are keys or variables.
struct GroupCondition {
    private let tree: PredicateTree
    private let entity: EntityLayout

    /// - Throws: an `NSError` that says why the condition cannot be evaluated.
    init(_ having: PredicateTree, of plan: FetchPlan) throws {
        tree = plan.resolvingColumns(in: having)
        entity = plan.entity
        try PredicateKeys.checkEvaluation(tree, of: entity)
    }

    func holds(of group: [Value]) -> Bool {
        guard let first = group.first else { return false }
        return CompiledPredicate(tree.aggregating(over: group, of: entity)).evaluate(first)
    }
}
