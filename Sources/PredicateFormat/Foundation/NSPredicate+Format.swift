import Foundation
import Synchronization

/// Restores the format string initializers of `NSPredicate`: an initializer of a protocol extension takes precedence
/// over one that Foundation declares unavailable.
public protocol PredicateParsing {}

extension NSPredicate: PredicateParsing {}

extension PredicateParsing where Self: NSPredicate {
    /// Creates a predicate that is true for everything: a value for a variable to begin with.
    ///
    /// Core Data's raises an exception when it is evaluated.
    public init() {
        guard let everything: Self = NSPredicate(value: true).ofClass() else {
            programmerError("\(Self.self) has no initializer without arguments.")
        }
        self = everything
    }

    /// Creates a predicate from a format string and the values for its placeholders.
    ///
    /// ```swift
    /// NSPredicate(format: "author.name BEGINSWITH[cd] %@ AND %K > %d", "s", "year", 1990)
    /// ```
    ///
    /// A format string that does not parse, or arguments that do not fit it, stop the program with a message that marks
    /// the position; Core Data raises an exception. For formats written by users, use ``init(parsing:arguments:)``.
    ///
    /// - Parameters:
    ///   - predicateFormat: the format string.
    ///   - arguments: one value for each placeholder: `%@` takes any value, including `nil`, collections and
    ///     `NSExpression`s, `%K` takes a key path. Further values are ignored, as in Core Data.
    public init(format predicateFormat: String, _ arguments: Any?...) {
        self = predicate(orStop: predicateFormat, arguments)
    }

    /// Creates a predicate from a format string and an array of the values for its placeholders.
    ///
    /// - Parameters:
    ///   - predicateFormat: the format string. One that does not parse stops the program.
    ///   - arguments: one value for each placeholder. `NSNull` stands for `nil`.
    public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self = predicate(orStop: predicateFormat, arguments ?? [])
    }

    /// Creates a predicate from a format string and the values for its placeholders.
    ///
    /// - Parameters:
    ///   - predicateFormat: the format string. One that does not parse stops the program.
    ///   - arguments: the values, of `withVaList(_:_:)` or `getVaList(_:)`.
    public init(format predicateFormat: String, arguments: FormatArgumentList) {
        self = predicate(orStop: predicateFormat, arguments.values)
    }

    /// Creates a predicate from a format string that may be wrong.
    ///
    /// ```swift
    /// let predicate = try NSPredicate(parsing: searchField.text, arguments: [])
    /// ```
    ///
    /// - Parameters:
    ///   - predicateFormat: the format string, at most 200 levels deep.
    ///   - arguments: one value for each placeholder.
    /// - Throws: ``PredicateFormatError``, which marks the position and says what was expected there.
    public init(parsing predicateFormat: String, arguments: [Any?] = []) throws {
        let predicate = try parsedPredicate(predicateFormat, arguments)
        try validate(predicate, predicateFormat)
        guard let result: Self = predicate.ofClass() else {
            throw PredicateFormatError(
                format: predicateFormat, byteOffset: nil, reason: "it makes no predicate of type \(Self.self)")
        }
        self = result
    }

    /// A copy of the predicate with values for its variables.
    ///
    /// ```swift
    /// let template = NSPredicate(format: "year > $YEAR")
    /// let recent = template.withSubstitutionVariables(["YEAR": 1990])
    /// ```
    ///
    /// - Parameter variables: the values, by the variables' names without the dollar sign. Other variables stay.
    /// - Returns: the copy.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        guard let tree = try? predicateTree(of: self) else { return self }
        let substituted = makePredicate(tree.replacingVariables(with: variables.mapValues { Value($0) }))
        return substituted as? Self ?? self
    }
}

extension PredicateParsing where Self: NSCompoundPredicate {
    /// Creates an “and” predicate without parts, which is true for everything: a value for a variable to begin with.
    public init() {
        guard let nothing = NSCompoundPredicate(andPredicateWithSubpredicates: []) as? Self else {
            programmerError("\(Self.self) has no initializer without arguments.")
        }
        self = nothing
    }
}

private func parsedPredicate(
    _ format: String, _ arguments: [Any?], surplus: SurplusArguments = .refused
) throws(PredicateFormatError) -> NSPredicate {
    let values = arguments.map { Value($0) }
    let template = try FormatCache.shared.template(format, arguments: values)
    let prepared = try template.prepare(values, surplus: surplus)
    guard values.contains(where: \.containsExpression) else { return makePredicate(PredicateContent(prepared)) }
    return makePredicate(prepared.tree.mapExpressions { $0.withoutExpressionObject })
}

extension ExpressionTree {
    /// The expression with `NSExpression` arguments, also those in a collection, replaced by their trees.
    var withoutExpressionObject: ExpressionTree {
        guard case .constant(let value) = self, value.containsExpression else { return self }
        if case .collection(let elements) = value {
            return .collection(of: elements.map { ExpressionTree.constant($0).withoutExpressionObject })
        }
        return value.expression?.tree ?? self
    }
}

extension Value {
    fileprivate var expression: NSExpression? {
        if case .object(let reference) = self { reference.object as? NSExpression } else { nil }
    }

    fileprivate var containsExpression: Bool {
        if case .collection(let elements) = self { return elements.contains(where: \.containsExpression) }
        return expression != nil
    }
}

private func predicate<Predicate: NSPredicate>(orStop format: String, _ arguments: [Any?]) -> Predicate {
    do {
        if let predicate: Predicate = try parsedPredicate(format, arguments, surplus: .ignored).ofClass() {
            return predicate
        }
        programmerError("The format \"\(format)\" makes no predicate of type \(Predicate.self).")
    } catch {
        programmerError(error.description)
    }
}

extension NSPredicate {
    /// The predicate as an instance of the class whose initializer parsed the format; `nil` if that is impossible.
    ///
    /// `NSCompoundPredicate(format:)` accepts any format: Core Data's is `NSPredicate`'s method, whichever class calls
    /// it.
    fileprivate func ofClass<Predicate: NSPredicate>() -> Predicate? {
        if let predicate = self as? Predicate { return predicate }
        return NSCompoundPredicate(andPredicateWithSubpredicates: [self]) as? Predicate
    }
}

/// Throws for anything that would stop the program during evaluation, since users may have written the format.
private func validate(_ predicate: NSPredicate, _ format: String) throws {
    guard let obstacle = try predicateTree(of: predicate).obstacle else { return }
    throw PredicateFormatError(format: format, byteOffset: nil, reason: obstacle)
}

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

/// Caches parsed format strings, so that a predicate that is made repeatedly is parsed once.
///
/// A format with `%K` has an entry for each combination of key paths.
final class FormatCache: Sendable {
    static let shared = FormatCache()

    private enum Entry {
        case template(FormatTemplate)
        /// The format has `%K` at these arguments.
        case keyed([Int])
    }

    private struct KeyedFormat: Hashable {
        let format: LiteralString
        let keyPaths: [Value]
    }

    private struct State {
        var entries: [LiteralString: Entry] = [:]
        var keyed: [KeyedFormat: FormatTemplate] = [:]
    }

    private let state = Mutex(State())
    private let limit: Int
    /// Longer formats are rarely repeated, and would take memory.
    private let longestFormat = 4096

    init(limit: Int = 500) {
        self.limit = limit
    }

    /// The template for a format and the key paths among its arguments.
    func template(_ format: String, arguments: [Value]) throws(PredicateFormatError) -> FormatTemplate {
        if let template = find(format, arguments) { return template }
        let template = try FormatTemplate(parsing: format, arguments: arguments)
        if format.utf8.count <= longestFormat { insert(template, arguments) }
        return template
    }

    private func find(_ format: String, _ arguments: [Value]) -> FormatTemplate? {
        state.withLock { state in
            switch state.entries[LiteralString(format)] {
            case nil: return nil
            case .template(let template): return template
            case .keyed(let indices):
                let keyPaths = indices.compactMap { arguments.indices.contains($0) ? arguments[$0] : nil }
                return state.keyed[KeyedFormat(format: LiteralString(format), keyPaths: keyPaths)]
            }
        }
    }

    private func insert(_ template: FormatTemplate, _ arguments: [Value]) {
        let indices = template.keyPathIndices
        let format = LiteralString(template.format)
        state.withLock { state in
            // Programs have few formats. One that keeps making up new ones empties the cache now and then.
            if state.entries.count >= limit { state.entries.removeAll() }
            if state.keyed.count >= limit { state.keyed.removeAll() }
            if indices.isEmpty {
                state.entries[format] = .template(template)
            } else {
                state.entries[format] = .keyed(indices)
                state.keyed[KeyedFormat(format: format, keyPaths: indices.map { arguments[$0] })] = template
            }
        }
    }
}
