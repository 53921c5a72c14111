import Foundation

// Lists of C's arguments cannot be read in Swift. What Apple's code makes such a list of is an array, which is kept
// here instead, under the names that make one. The compiler takes Swift's own `withVaList` where the list goes
// elsewhere; it has `getVaList` on Apple's platforms only.

/// The values for the placeholders of a format string, where code for Apple's platforms has a list of C's arguments.
///
/// ```swift
/// func books(_ format: String, _ arguments: CVarArg...) -> NSPredicate {
///     withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
/// }
/// ```
public struct FormatArgumentList {
    let values: [any CVarArg]
}

/// Calls a function with values as a predicate or an expression takes them.
///
/// - Parameters:
///   - args: the values, one a placeholder.
///   - body: what is called with them.
/// - Returns: what the function returns.
@_disfavoredOverload
public func withVaList<R>(_ args: [any CVarArg], _ body: (FormatArgumentList) -> R) -> R {
    body(FormatArgumentList(values: args))
}

/// Values as a predicate or an expression takes them.
///
/// - Parameter args: the values, one a placeholder.
/// - Returns: the values, to be given to `NSPredicate(format:arguments:)`.
public func getVaList(_ args: [any CVarArg]) -> FormatArgumentList { FormatArgumentList(values: args) }

extension NSExpression {
    /// Creates an expression from a format string and the values for its placeholders.
    ///
    /// - Parameters:
    ///   - expressionFormat: the format, with `%@` for a value and `%K` for a key path.
    ///   - arguments: the values, of `withVaList(_:_:)` or `getVaList(_:)`.
    public convenience init(format expressionFormat: String, arguments: FormatArgumentList) {
        self.init(format: expressionFormat, argumentArray: arguments.values)
    }
}
