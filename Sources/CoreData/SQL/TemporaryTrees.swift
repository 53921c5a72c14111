// Until the parser lands.
func expressionTree(of expression: NSExpression) throws -> ExpressionTree {
    throw SQLError.unsupported("expressions")
}
