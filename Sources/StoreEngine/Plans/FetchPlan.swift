import CoreDataModel
import Foundation

/// A fetch in the form for a store: the request with its entity resolved, without the parts that only concern contexts.
package struct FetchPlan {
    package var entity: EntityLayout
    package var includesSubentities = true
    package var predicate: NSPredicate?
    package var sortDescriptors: [NSSortDescriptor] = []
    package var limit = 0
    package var offset = 0
    /// For dictionaries: the columns, the groups, and the condition on the groups.
    package var columns: [FetchColumn] = []
    package var groupBy: [String] = []
    /// The computed columns among the groups that the dictionaries do not have.
    package var groupColumns: [FetchColumn] = []
    package var having: NSPredicate?
    package var isDistinct = false

    package init(entity: EntityLayout) { self.entity = entity }

    /// The entities whose rows are fetched.
    package var entities: [EntityLayout] { includesSubentities ? entity.selfAndSubentities : [entity] }
}

/// One value of each dictionary of a dictionary fetch.
package enum FetchColumn {
    /// An attribute or to-one relationship, or a key path through to-one relationships.
    case keyPath(String)
    /// A computed value with a name and a type.
    case expression(name: String, NSExpression, NSAttributeType)

    /// The key in the dictionary.
    package var name: String {
        switch self {
        case .keyPath(let path): return path
        case .expression(let name, _, _): return name
        }
    }
}

extension FetchPlan {
    /// Whether the predicate or a sort descriptor is Swift code, which no store can run; for some stores, the context
    /// does.
    package var isCode: Bool {
        if let predicate, (try? predicateTree(of: predicate)) == nil { return true }
        return !sortDescriptors.isEmpty && (try? sortTerms(of: sortDescriptors)) == nil
    }

    /// Whether the predicate has a variable without a value, so that it cannot be evaluated.
    package var hasOpenVariable: Bool {
        predicate.flatMap { try? predicateTree(of: $0) }?.openVariable != nil
    }

    /// All objects, in any order.
    package var withoutConditions: FetchPlan {
        var plan = self
        plan.predicate = nil
        plan.sortDescriptors = []
        return plan
    }
}

extension FetchPlan {
    /// The values of dictionaries in the order of the plan's columns, which are key paths that end at attributes.
    package func tuples(of dictionaries: [[String: Any]]) -> [ContiguousArray<StoredValue>] {
        let attributes = columns.compactMap { column -> (path: String, attribute: AttributeLayout)? in
            guard case .keyPath(let path) = column else { return nil }
            return entity.attribute(at: path.split(separator: ".").map(String.init)).map { (path, $0) }
        }
        return dictionaries.map { row in
            ContiguousArray(attributes.map { StoredValue(row[$0.path], for: $0.attribute) })
        }
    }
}

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

extension NSPredicate {
    /// The predicate adapted for a fetch of an entity: what depends on constants only is evaluated, and texts that
    /// spell UUIDs or numbers are converted for attributes that hold these.
    package func read(for layout: EntityLayout) -> NSPredicate {
        withConstantPartsRead.withSpelledValuesRead(layout.spelledKind)
    }
}
