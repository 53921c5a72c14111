/// A comparison of two expressions: `ANY books.title BEGINSWITH[cd] "a"`.
package struct ComparisonTree: Hashable, Sendable {
    package var left: ExpressionTree
    package var comparison: ComparisonOperator
    package var right: ExpressionTree
    package var modifier: ComparisonModifier
    package var options: StringOptions

    package init(
        _ left: ExpressionTree, _ comparison: ComparisonOperator, _ right: ExpressionTree,
        modifier: ComparisonModifier = .direct, options: StringOptions = []
    ) {
        self.left = left
        self.comparison = comparison
        self.right = right
        self.modifier = modifier
        self.options = options
    }
}
