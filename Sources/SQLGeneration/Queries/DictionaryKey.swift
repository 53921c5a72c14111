import CoreDataModel
import PredicateFormat
import StoreEngine

/// The parts of two dictionary fetches that make their SQL differ.
package struct DictionaryKey: Hashable {
    private enum Column: Hashable {
        case keyPath(String)
        case expression(String, ExpressionTree, NSAttributeType)
    }

    /// Those that are fetched, and those that are grouped by only.
    private let columns: [Column]
    private let fetched: Int
    private let groupBy: [String]
    private let having: PredicateTree?
    private let isDistinct: Bool
    /// Those of all constants: 2 equals 2.0, and its SQL is another one.
    private let shapes: [ValueShape]

    package init(_ plan: FetchPlan, having: PredicateTree?) {
        var shapes: [ValueShape] = []
        columns = (plan.columns + plan.groupColumns).map { column in
            switch column {
            case .keyPath(let path): return .keyPath(path)
            case .expression(let name, let expression, let type):
                let tree = expressionTree(of: expression)
                tree.forEachConstant { shapes.append($0.shape) }
                return .expression(name, tree, type)
            }
        }
        having?.forEachConstant { shapes.append($0.shape) }
        self.shapes = shapes
        fetched = plan.columns.count
        groupBy = plan.groupBy
        self.having = having
        isDistinct = plan.isDistinct
    }
}
