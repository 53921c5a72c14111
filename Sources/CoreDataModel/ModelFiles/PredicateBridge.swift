import Foundation
import PredicateFormat

/// Converts between the predicate classes of descriptions and the trees of documents.
enum PredicateBridge {
    static func tree(of predicate: NSPredicate) throws -> PredicateTree { try predicateTree(of: predicate) }

    static func predicate(of tree: PredicateTree) throws -> NSPredicate { makePredicate(tree) }

    static func expressionTree(of expression: NSExpression) throws -> ExpressionTree {
        PredicateFormat.expressionTree(of: expression)
    }

    static func expression(of tree: ExpressionTree) throws -> NSExpression { makeExpression(tree) }

    static func sortDescriptor(_ term: SortTerm) -> NSSortDescriptor { makeSortDescriptor(term) }

    static func sortTerms(of descriptors: [NSSortDescriptor]) throws -> [SortTerm] {
        try PredicateFormat.sortTerms(of: descriptors)
    }
}
