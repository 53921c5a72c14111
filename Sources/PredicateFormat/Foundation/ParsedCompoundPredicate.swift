import Foundation

/// The compound predicate that a format string gives: Foundation's class, but evaluated, printed and compared by its
/// tree.
final class ParsedCompoundPredicate: NSCompoundPredicate {
    let content: PredicateContent

    init(_ content: PredicateContent) {
        self.content = content
        switch content.prepared.skeleton {
        case .not(let part):
            super.init(type: .not, subpredicates: [makePredicate(content.part(part))])
        case .or(let parts):
            super.init(type: .or, subpredicates: parts.map { makePredicate(content.part($0)) })
        case .and(let parts):
            super.init(type: .and, subpredicates: parts.map { makePredicate(content.part($0)) })
        case let other:
            super.init(type: .and, subpredicates: [makePredicate(content.part(other))])
        }
    }

    override var predicateFormat: String { content.tree.shownFormat }

    override var description: String { content.tree.shownFormat }

    override func evaluate(with object: Any?) -> Bool {
        content.evaluate(with: object, nil)
    }

    override func evaluate(with object: Any?, substitutionVariables bindings: [String: Any]?) -> Bool {
        content.evaluate(with: object, bindings)
    }

    override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSCompoundPredicate else { return false }
        return self === other || (try? predicateTree(of: other)) == content.tree
    }

    override var hash: Int { content.tree.hashValue }

    override func copy(with zone: NSZone? = nil) -> Any { self }
}
