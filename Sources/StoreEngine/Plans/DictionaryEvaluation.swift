import CoreDataModel
import Foundation
import PredicateFormat

/// Makes the dictionaries of a fetch plan in memory, of objects that were found already, as SQL makes them in a
/// database.
package struct DictionaryEvaluation {
    private let plan: FetchPlan
    private let columns: [GroupColumn]
    private let keys: [GroupExpression]
    /// Whether a group fulfils the condition on groups.
    private var having: ([Value]) -> Bool = { _ in true }

    /// - Parameter plan: the fetch, of which the predicate and the order do not count.
    /// - Throws: an `NSError` that names a key which the entity does not have, or which leads to many objects.
    package init(_ plan: FetchPlan) throws {
        self.plan = plan
        let columns = try plan.columns.map { try GroupColumn($0, of: plan.entity) }
        self.columns = columns
        keys = try plan.groupBy.map { try GroupExpression(plan.tree(ofColumn: $0), of: plan.entity) }
        guard let condition = plan.having else { return }
        if let tree = try? predicateTree(of: condition) {
            having = try GroupCondition(tree, of: plan).holds
        } else {
            // A condition with code has the dictionary of the group.
            having = { group in condition.evaluate(with: Self.dictionary(columns, columns.map { $0.value(of: group) }))
            }
        }
    }

    /// - Parameter objects: the objects, in their order.
    /// - Returns: the dictionaries, in the order of the first object of each, within the plan's limit.
    /// - Throws: an `NSError` if the condition on groups cannot be evaluated.
    package func dictionaries(of objects: [Value]) throws -> [[String: Any]] {
        var groups = objects.map { [$0] }
        if !keys.isEmpty || columns.contains(where: \.computesGroup) {
            groups = try StoreError.evaluating { grouped(objects).filter(having) }
        }
        var rows = groups.map { group in columns.map { $0.value(of: group) } }
        if plan.isDistinct {
            var seen: Set<[Value]> = []
            rows = rows.filter { seen.insert($0).inserted }
        }
        let rest = rows.dropFirst(max(plan.offset, 0))
        return (plan.limit > 0 ? rest.prefix(plan.limit) : rest).map { Self.dictionary(columns, $0) }
    }

    /// Objects grouped by their values, in the order of the first object of each group; one group if there are no keys.
    private func grouped(_ objects: [Value]) -> [[Value]] {
        if keys.isEmpty { return [objects] }
        var positions: [[Value]: Int] = [:]
        var groups: [[Value]] = []
        for object in objects {
            let values = keys.map { $0.value(of: [object]) }
            if let position = positions[values] {
                groups[position].append(object)
            } else {
                positions[values] = groups.count
                groups.append([object])
            }
        }
        return groups
    }

    private static func dictionary(_ columns: [GroupColumn], _ values: [Value]) -> [String: Any] {
        var dictionary: [String: Any] = [:]
        for (column, value) in zip(columns, values) { dictionary[column.name] = column.shown(value) }
        return dictionary
    }
}

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

extension NSAttributeType {
    /// A computed value in this type, which its expression description declares; nil if it cannot be converted. Of a
    /// type that is not declared, or that no value is converted to, it is the value itself.
    package func declaredValue(_ found: Any?) -> Any? {
        switch self {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return Self.number(found).map { NSNumber(value: $0.int64Value) }
        case .booleanAttributeType: return Self.number(found).map { NSNumber(value: $0.int64Value != 0) }
        case .doubleAttributeType, .floatAttributeType:
            return Self.number(found).map { NSNumber(value: $0.nearestDouble) }
        case .decimalAttributeType:
            return Self.number(found).map { NSDecimalNumber(string: $0.description(withLocale: nil)) }
        case .dateAttributeType:
            return found as? Date
                ?? Self.number(found).map { Date(timeIntervalSinceReferenceDate: $0.doubleValue) }
        case .stringAttributeType: return found.map { "\($0)" }
        case .URIAttributeType: return found as? URL ?? (found as? String).flatMap { URL(string: $0) }
        default: return found
        }
    }

    private static func number(_ found: Any?) -> NSNumber? {
        found as? NSNumber ?? (found as? Date).map { NSNumber(value: $0.timeIntervalSinceReferenceDate) }
    }
}

extension PredicateTree {
    /// Whether `max:` or a function like it is computed over all objects of the entity.
    package func aggregatesObjects(of entity: EntityLayout) -> Bool { aggregating(over: [], of: entity) != self }

    /// The tree with what `max:` and similar functions compute of objects.
    package func aggregating(over objects: [Value], of entity: EntityLayout) -> PredicateTree {
        mapExpressions { $0.aggregate(of: objects, entity) ?? $0 }
    }
}

extension ExpressionTree {
    /// The tree with what `max:` and similar functions compute of objects.
    package func aggregating(over objects: [Value], of entity: EntityLayout) -> ExpressionTree {
        mapExpressions { $0.aggregate(of: objects, entity) ?? $0 }
    }

    /// The value of `max:(price)` or `@max.price` for objects; nil for a function of a collection, such as one that a
    /// to-many key path leads to, and for other expressions.
    fileprivate func aggregate(of objects: [Value], _ entity: EntityLayout) -> ExpressionTree? {
        var expression = self
        if case .keyPath(let path) = self, let overAll = CollectionOperator.functionOverAll(path) {
            expression = overAll
        }
        guard case .function(let function, let arguments) = expression, arguments.count == 1,
            Self.aggregates.contains(function), arguments[0].readsObject,
            let isMany = try? PredicateKeys.leadsToMany(arguments[0], of: entity), !isMany
        else { return nil }
        let argument = CompiledExpression(arguments[0])
        // As in SQL, nil does not count.
        let values = objects.map { argument.evaluate($0) }.filter { !$0.isNull }
        let result = CompiledExpression(.function(function, [.constant(.collection(values))])).evaluate(.null)
        return .constant(result)
    }

    private static let aggregates: Set<BuiltInFunction> = [.count, .sum, .minimum, .maximum, .average]

    /// Whether it is one value that is made of the evaluated object, and of no variable, or a constant one, of which
    /// each object has one.
    private var readsObject: Bool {
        switch self {
        case .aggregate, .listed, .set, .subquery, .constant(.collection): return false
        case .constant: return true
        default: break
        }
        var reading = Reading()
        reading.add(self)
        return reading.readsObject && !reading.isOpen
    }

    /// What an expression is made of.
    private struct Reading {
        var readsObject = false
        /// Whether it has a variable.
        var isOpen = false

        mutating func add(_ tree: ExpressionTree) {
            switch tree {
            case .keyPath, .evaluatedObject: readsObject = true
            case .variable: isOpen = true
            case .conditional(let test, _, _): add(test)
            default: break
            }
            for part in tree.parts { add(part) }
        }

        private mutating func add(_ test: PredicateTree) {
            switch test {
            case .constant: return
            case .and(let parts), .or(let parts): for part in parts { add(part) }
            case .not(let part): add(part)
            case .comparison(let comparison):
                add(comparison.left)
                add(comparison.right)
            }
        }
    }
}
