import Foundation

/// Gives `NSPredicate` its format strings back: an initializer of a protocol extension wins over one that Foundation
/// declares unavailable.
public protocol PredicateParsing {}

extension NSPredicate: PredicateParsing {}

extension PredicateParsing where Self: NSPredicate {
    /// Creates a predicate from a format string and the values for its placeholders.
    ///
    /// ```swift
    /// NSPredicate(format: "author.name BEGINSWITH[cd] %@ AND %K > %d", "s", "year", 1990)
    /// ```
    ///
    /// A format string that does not parse, or arguments that do not fit it, stop the program, with a message that marks
    /// the place, as Core Data raises an exception. For formats that users write there is ``init(parsing:arguments:)``.
    ///
    /// - Parameters:
    ///   - predicateFormat: The format string.
    ///   - arguments: One value a placeholder: `%@` takes any value, `nil`, collections and `NSExpression`s included, `%K` a key
    ///     path.
    public init(format predicateFormat: String, _ arguments: Any?...) {
        self = predicate(orStop: predicateFormat, arguments)
    }

    /// Creates a predicate from a format string and an array of the values for its placeholders.
    ///
    /// - Parameters:
    ///   - predicateFormat: The format string. One that does not parse stops the program.
    ///   - arguments: One value a placeholder. `NSNull` stands for `nil`.
    public init(format predicateFormat: String, argumentArray arguments: [Any]?) {
        self = predicate(orStop: predicateFormat, arguments ?? [])
    }

    /// Creates a predicate from a format string and the values for its placeholders.
    ///
    /// - Parameters:
    ///   - predicateFormat: The format string. One that does not parse stops the program.
    ///   - arguments: The values, of `withVaList(_:_:)` or `getVaList(_:)`.
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
    ///   - predicateFormat: The format string, at most 200 levels deep.
    ///   - arguments: One value a placeholder.
    /// - Throws: ``PredicateFormatError``, which marks the place and says what was expected there.
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
    /// - Parameter variables: Values by the variables' names, without the dollar sign. Other variables stay.
    /// - Returns: The copy; the original stays as it is.
    public func withSubstitutionVariables(_ variables: [String: Any]) -> Self {
        guard let tree = try? predicateTree(of: self) else { return self }
        let substituted = makePredicate(tree.replacingVariables(with: variables.mapValues { Value($0) }))
        return substituted as? Self ?? self
    }
}

private func parsedPredicate(_ format: String, _ arguments: [Any?]) throws(PredicateFormatError) -> NSPredicate {
    let values = arguments.map { Value($0) }
    let template = try FormatCache.shared.template(format, arguments: values)
    let prepared = try template.prepare(values)
    guard values.contains(where: { $0.expression != nil }) else { return makePredicate(PredicateContent(prepared)) }
    return makePredicate(prepared.tree.mapExpressions { $0.withoutExpressionObject })
}

extension ExpressionTree {
    /// The tree of the `NSExpression` that was given as an argument, in its place.
    var withoutExpressionObject: ExpressionTree {
        if case .constant(let value) = self, let expression = value.expression { expression.tree } else { self }
    }
}

extension Value {
    fileprivate var expression: NSExpression? {
        if case .object(let reference) = self { reference.object as? NSExpression } else { nil }
    }
}

private func predicate<Predicate: NSPredicate>(orStop format: String, _ arguments: [Any?]) -> Predicate {
    do {
        if let predicate: Predicate = try parsedPredicate(format, arguments).ofClass() { return predicate }
        programmerError("The format \"\(format)\" makes no predicate of type \(Predicate.self).")
    } catch {
        programmerError(error.description)
    }
}

extension NSPredicate {
    /// The predicate as one of a class that a format was parsed by; `nil` where it cannot be one.
    ///
    /// `NSCompoundPredicate(format:)` is there for any format: Core Data's is `NSPredicate`'s method, whatever class calls it.
    fileprivate func ofClass<Predicate: NSPredicate>() -> Predicate? {
        if let predicate = self as? Predicate { return predicate }
        return NSCompoundPredicate(andPredicateWithSubpredicates: [self]) as? Predicate
    }
}

/// What would stop the program when it is evaluated must not be in a format that users write.
private func validate(_ predicate: NSPredicate, _ format: String) throws {
    guard let obstacle = try predicateTree(of: predicate).obstacle else { return }
    throw PredicateFormatError(format: format, byteOffset: nil, reason: obstacle)
}
