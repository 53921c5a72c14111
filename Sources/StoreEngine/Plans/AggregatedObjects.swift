import CoreDataModel
import PredicateFormat

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
