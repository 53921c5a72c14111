import CoreDataModel

extension FetchPlan {
    /// The expression for a name in GROUP BY: a computed column, or a key path.
    package func tree(ofColumn name: String) -> ExpressionTree {
        computedColumn(name) ?? .keyPath(name.split(separator: ".").map(String.init))
    }

    private func computedColumn(_ name: String) -> ExpressionTree? {
        for case .expression(name, let expression, _) in columns + groupColumns {
            return expressionTree(of: expression)
        }
        return nil
    }

    /// Replaces the computed columns that a predicate on groups names as a variable, `$total > 3`, or as a key.
    package func resolvingColumns(in having: PredicateTree) -> PredicateTree {
        having.mapExpressions { expression in
            switch expression {
            case .variable(let name): return computedColumn(name) ?? expression
            case .keyPath(let keys) where keys.count == 1 && entity.propertyByName[keys[0]] == nil:
                return computedColumn(keys[0]) ?? expression
            default: return expression
            }
        }
    }
}
