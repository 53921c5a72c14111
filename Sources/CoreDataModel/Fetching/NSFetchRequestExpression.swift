import Foundation

/// The type of an expression that runs a fetch request.
public var NSFetchRequestExpressionType: NSExpression.ExpressionType { .fetchRequest }

/// An expression whose value is the result of a fetch request: `FETCH(request, context, NO)`.
///
/// ```swift
/// let recent = NSFetchRequest<NSDictionary>(entityName: "Review")
/// recent.resultType = .dictionaryResultType
/// recent.propertiesToFetch = ["book"]
/// let reviewed = NSFetchRequestExpression.expression(
///     forFetch: NSExpression(forConstantValue: recent), context: NSExpression(forConstantValue: context), countOnly: false)
/// request.predicate = NSPredicate(format: "SELF IN %@", reviewed)
/// // … WHERE t0.Z_PK IN (SELECT t0.ZBOOK FROM ZREVIEW t0)
/// ```
///
/// In SQL, it is a subquery: for the objects' keys, or for the only property to fetch; with `countOnly`, for the number
/// of rows. In memory, the context runs the request. Mapping models use it for source expressions, too, which a
/// migration evaluates.
open class NSFetchRequestExpression: NSExpression {
    /// The expression that gives the fetch request.
    open var requestExpression: NSExpression { request }
    /// The expression that gives the context to fetch in.
    open var contextExpression: NSExpression { context }
    /// Whether the value is the number of objects instead of the objects.
    open var isCountOnlyRequest: Bool { countsOnly }

    private let request: NSExpression
    private let context: NSExpression
    private let countsOnly: Bool

    private init(request: ExpressionTree, context: ExpressionTree, countOnly: Bool) {
        self.request = makeExpression(request)
        self.context = makeExpression(context)
        countsOnly = countOnly
        super.init(.fetch(request, in: context, countOnly: countOnly))
    }

    /// Makes an expression for the result of a fetch request.
    ///
    /// - Parameters:
    ///   - fetch: the expression that gives the fetch request.
    ///   - context: the expression that gives the context in which the request is run in memory.
    ///   - countFlag: whether the value is the number of objects.
    /// - Returns: the expression, an `NSFetchRequestExpression`.
    open class func expression(
        forFetch fetch: NSExpression, context: NSExpression, countOnly countFlag: Bool
    ) -> NSExpression {
        NSFetchRequestExpression(
            request: expressionTree(of: fetch), context: expressionTree(of: context), countOnly: countFlag)
    }
}

/// A store's answer to a request: the common part of the results of batch, history and asynchronous requests.
open class NSPersistentStoreResult: NSObject {}
