import Foundation

/// A computed column of a dictionary fetch: the value of an expression, under a name.
open class NSExpressionDescription: NSPropertyDescription {
    /// The computation.
    open var expression: NSExpression? { willSet { willChangeDescription() } }

    /// The type of the result.
    open var expressionResultType: NSAttributeType = .undefinedAttributeType { willSet { willChangeDescription() } }

    /// The type of the result, with Swift's names.
    open var resultType: NSAttributeDescription.AttributeType {
        get { .init(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }

    package override func computes(theSameAs other: NSPropertyDescription) -> Bool {
        guard let other = other as? NSExpressionDescription else { return false }
        return expression == other.expression && expressionResultType == other.expressionResultType
    }

    package override func emptyCopy() -> NSPropertyDescription { NSExpressionDescription() }

    package override func copyContents(to copy: NSPropertyDescription) {
        super.copyContents(to: copy)
        guard let copy = copy as? NSExpressionDescription else { return }
        copy.expression = expression
        copy.expressionResultType = expressionResultType
    }
}
