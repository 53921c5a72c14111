import Foundation
import Synchronization

/// What a predicate object of ours holds: the prepared predicate, and what is made of it when first needed.
final class PredicateContent: Sendable {
    let prepared: PreparedPredicate

    private struct Made {
        var tree: PredicateTree?
        var compiled: CompiledPredicate?
    }

    private let made = Mutex(Made())

    init(_ prepared: PreparedPredicate) {
        CompoundPredicateMethods.install
        self.prepared = prepared
    }

    convenience init(_ tree: PredicateTree) {
        self.init(PreparedPredicate(parameterizing: tree))
    }

    /// The predicate with its arguments in place.
    var tree: PredicateTree {
        made.withLock { made in
            if let tree = made.tree { return tree }
            let tree = prepared.tree
            made.tree = tree
            return tree
        }
    }

    /// The predicate, ready to be evaluated.
    var compiled: CompiledPredicate {
        if let compiled = made.withLock({ $0.compiled }) { return compiled }
        let compiled = CompiledPredicate(tree)
        made.withLock { $0.compiled = compiled }
        return compiled
    }

    /// A part of the predicate, with the same arguments.
    func part(_ skeleton: PredicateTree) -> PredicateContent {
        PredicateContent(PreparedPredicate(skeleton: skeleton, identity: nil, arguments: prepared.arguments))
    }

    func evaluate(with object: Any?, _ variables: [String: Any]?) -> Bool {
        guard let variables else { return compiled.evaluate(Value(object)) }
        return compiled.evaluate(Value(object), variables: variables.mapValues { Value($0) })
    }
}
