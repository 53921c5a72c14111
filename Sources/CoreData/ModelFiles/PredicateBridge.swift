import Foundation

/// Where model files meet the predicates module: descriptions hold its classes, documents its trees.
enum PredicateBridge {
    private static func missing() -> ModelFileError {
        ModelFileError(reason: "predicates in model files are not read yet")
    }

    static func tree(ofFormat format: String) throws -> PredicateTree { throw missing() }

    static func expressionTree(ofFormat format: String) throws -> ExpressionTree { throw missing() }

    static func tree(of predicate: NSPredicate) throws -> PredicateTree { throw missing() }

    static func predicate(of tree: PredicateTree) throws -> NSPredicate { throw missing() }

    static func expressionTree(of expression: NSExpression) throws -> ExpressionTree { throw missing() }

    static func expression(of tree: ExpressionTree) throws -> NSExpression { throw missing() }

    static func sortDescriptor(_ term: SortTerm) -> NSSortDescriptor {
        NSSortDescriptor(keyPath: \NSString.length, ascending: term.ascending)
    }

    static func sortTerms(of descriptors: [NSSortDescriptor]) throws -> [SortTerm] { throw missing() }
}
