import Foundation

/// A to-many property whose type says what is in it: `Set<Book>`, `[Tag]`, or an optional of these.
public protocol PredicateCollection<Member> {
    /// What is in it.
    associatedtype Member
}

extension Set: PredicateCollection {
    /// What is in it.
    public typealias Member = Element
}
extension Array: PredicateCollection {
    /// What is in it.
    public typealias Member = Element
}
extension Optional: PredicateCollection where Wrapped: PredicateCollection {
    /// What is in it.
    public typealias Member = Wrapped.Member
}

/// A to-many property whose type does not say what is in it, as Xcode generates it: `NSSet?`, `NSOrderedSet?`.
///
/// The key path of the members names their class: `(\Author.books).any(\Book.title)`.
public protocol PredicateUntypedCollection {}

extension NSSet: PredicateUntypedCollection {}
extension NSOrderedSet: PredicateUntypedCollection {}
extension Optional: PredicateUntypedCollection where Wrapped: PredicateUntypedCollection {}

extension PredicateOperand where Value: PredicateCollection {
    /// `ANY books.title`: a comparison must hold for at least one member. `any(\.self)` for the members themselves.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for one comparison.
    @_disfavoredOverload
    public func any<Part>(_ keyPath: KeyPath<Value.Member, Part>) -> KeyPathExpression<Root, Part> {
        quantified(keyPath, .any)
    }

    /// `ALL books.title`: a comparison must hold for every member, which it does for none at all.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for one comparison.
    @_disfavoredOverload
    public func all<Part>(_ keyPath: KeyPath<Value.Member, Part>) -> KeyPathExpression<Root, Part> {
        quantified(keyPath, .all)
    }

    /// `NONE books.title`: a comparison must hold for no member.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for one comparison.
    @_disfavoredOverload
    public func none<Part>(_ keyPath: KeyPath<Value.Member, Part>) -> KeyPathExpression<Root, Part> {
        quantified(keyPath, .any, isNone: true)
    }

    /// `books CONTAINS book`
    ///
    /// - Parameter member: The member to look for.
    /// - Returns: The predicate.
    @_disfavoredOverload
    public func contains(_ member: Value.Member) -> NSPredicate { compare(.contains, constantTree(member)) }

    /// `books.@count`
    @_disfavoredOverload
    public var count: KeyPathExpression<Root, Int> { computed(.count) }

    /// `books.@sum.price`; of no members 0.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for comparisons.
    @_disfavoredOverload
    public func sum<Part>(_ keyPath: KeyPath<Value.Member, Part>) -> KeyPathExpression<Root, Part> {
        computed(.sum, keyPath)
    }

    /// `books.@avg.price`; of no members nil.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for comparisons.
    @_disfavoredOverload
    public func average<Part>(_ keyPath: KeyPath<Value.Member, Part>) -> KeyPathExpression<Root, Double> {
        computed(.average, keyPath)
    }

    /// `books.@min.price`; of no members nil.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for comparisons.
    @_disfavoredOverload
    public func min<Part>(_ keyPath: KeyPath<Value.Member, Part>) -> KeyPathExpression<Root, Part> {
        computed(.minimum, keyPath)
    }

    /// `books.@max.price`; of no members nil.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for comparisons.
    @_disfavoredOverload
    public func max<Part>(_ keyPath: KeyPath<Value.Member, Part>) -> KeyPathExpression<Root, Part> {
        computed(.maximum, keyPath)
    }

    /// `SUBQUERY(books, $member, $member.price > 10)`: the members that satisfy a predicate of their own.
    ///
    /// ```swift
    /// (\Author.books).filter(\Book.price > 10 && \Book.year > 2000).count > 2
    /// ```
    ///
    /// - Parameter predicate: A predicate about a member, not a block predicate.
    /// - Returns: An operand that counts as the smaller collection.
    @_disfavoredOverload
    public func filter(_ predicate: NSPredicate) -> KeyPathExpression<Root, Value> { subquery(predicate) }
}

extension PredicateOperand where Value: PredicateUntypedCollection {
    /// `ANY books.title`: a comparison must hold for at least one member.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for one comparison.
    @_disfavoredOverload
    public func any<Member, Part>(_ keyPath: KeyPath<Member, Part>) -> KeyPathExpression<Root, Part> {
        quantified(keyPath, .any)
    }

    /// `ALL books.title`: a comparison must hold for every member, which it does for none at all.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for one comparison.
    @_disfavoredOverload
    public func all<Member, Part>(_ keyPath: KeyPath<Member, Part>) -> KeyPathExpression<Root, Part> {
        quantified(keyPath, .all)
    }

    /// `NONE books.title`: a comparison must hold for no member.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for one comparison.
    @_disfavoredOverload
    public func none<Member, Part>(_ keyPath: KeyPath<Member, Part>) -> KeyPathExpression<Root, Part> {
        quantified(keyPath, .any, isNone: true)
    }

    /// `books CONTAINS book`
    ///
    /// - Parameter member: The member to look for.
    /// - Returns: The predicate.
    @_disfavoredOverload
    public func contains(_ member: NSObject) -> NSPredicate { compare(.contains, constantTree(member)) }

    /// `books.@count`
    @_disfavoredOverload
    public var count: KeyPathExpression<Root, Int> { computed(.count) }

    /// `books.@sum.price`; of no members 0.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for comparisons.
    @_disfavoredOverload
    public func sum<Member, Part>(_ keyPath: KeyPath<Member, Part>) -> KeyPathExpression<Root, Part> {
        computed(.sum, keyPath)
    }

    /// `books.@avg.price`; of no members nil.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for comparisons.
    @_disfavoredOverload
    public func average<Member, Part>(_ keyPath: KeyPath<Member, Part>) -> KeyPathExpression<Root, Double> {
        computed(.average, keyPath)
    }

    /// `books.@min.price`; of no members nil.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for comparisons.
    @_disfavoredOverload
    public func min<Member, Part>(_ keyPath: KeyPath<Member, Part>) -> KeyPathExpression<Root, Part> {
        computed(.minimum, keyPath)
    }

    /// `books.@max.price`; of no members nil.
    ///
    /// - Parameter keyPath: A property of the members.
    /// - Returns: An operand for comparisons.
    @_disfavoredOverload
    public func max<Member, Part>(_ keyPath: KeyPath<Member, Part>) -> KeyPathExpression<Root, Part> {
        computed(.maximum, keyPath)
    }

    /// `SUBQUERY(books, $member, $member.price > 10)`: the members that satisfy a predicate of their own.
    ///
    /// - Parameter predicate: A predicate about a member, not a block predicate.
    /// - Returns: An operand that counts as the smaller collection.
    @_disfavoredOverload
    public func filter(_ predicate: NSPredicate) -> KeyPathExpression<Root, Value> { subquery(predicate) }
}

extension PredicateOperand {
    fileprivate func quantified<Part>(
        _ keyPath: AnyKeyPath, _ modifier: ComparisonModifier, isNone: Bool = false
    ) -> KeyPathExpression<Root, Part> {
        let tree = comparisonSide.tree.appending(keysOf: keyPath)
        return KeyPathExpression(ComparisonSide(tree: tree, modifier: modifier, isNone: isNone))
    }

    fileprivate func computed<Part>(
        _ operation: CollectionOperator, _ keyPath: AnyKeyPath? = nil
    ) -> KeyPathExpression<Root, Part> {
        let tree = comparisonSide.tree.appending(keys: [operation.rawValue])
        return KeyPathExpression(keyPath.map { tree.appending(keysOf: $0) } ?? tree)
    }

    fileprivate func subquery(_ predicate: NSPredicate) -> KeyPathExpression<Root, Value> {
        do {
            let tree = comparisonSide.tree
            let condition = try predicateTree(of: predicate)
            let variable = condition.unusedVariable
            return KeyPathExpression(.subquery(of: tree, variable: variable, condition.about(variable: variable)))
        } catch {
            programmerError("The members of a collection cannot be filtered by this predicate. \(error)")
        }
    }
}

extension ExpressionTree {
    fileprivate func appending(keysOf keyPath: AnyKeyPath) -> ExpressionTree {
        switch expressionTree(of: keyPath) {
        case .keyPath(let keys): appending(keys: keys)
        default: self
        }
    }
}

extension PredicateTree {
    /// A name that no subquery within the predicate uses.
    fileprivate var unusedVariable: String {
        var used: Set<String> = []
        _ = mapExpressions { expression in
            if case .subquery(_, let name, _) = expression { used.insert(name) }
            return expression
        }
        return used.isEmpty ? "member" : "member\(used.count + 1)"
    }

    /// The predicate with a variable in place of the evaluated object.
    fileprivate func about(variable: String) -> PredicateTree {
        mapExpressions { expression in
            switch expression {
            case .evaluatedObject: .variable(variable)
            case .keyPath(let keys): .path(from: .variable(variable), keys)
            default: expression
            }
        }
    }
}
