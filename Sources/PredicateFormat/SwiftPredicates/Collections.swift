import Foundation

/// `$0.tags.contains("x")`, `["a", "b"].contains($0.name)`
extension PredicateExpressions.SequenceContains: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .comparison(try conversion.expression(element), .in, try conversion.expression(sequence))
    }
}

/// `$0.title.contains("x")`
extension PredicateExpressions.CollectionContainsCollection: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .comparison(try conversion.expression(base), .contains, try conversion.expression(other))
    }
}

/// `$0.title.starts(with: "x")`
extension PredicateExpressions.SequenceStartsWith: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .comparison(try conversion.expression(base), .beginsWith, try conversion.expression(prefix))
    }
}

/// `$0.reviews.contains { $0.stars > 3 }`
extension PredicateExpressions.SequenceContainsWhere: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let closure = conversion.closure(variable.key)
        let matching = ExpressionTree.subquery(
            of: try conversion.expression(sequence), variable: closure.name, try closure.conversion.predicate(test))
        return .comparison(matching.appending(keys: ["@count"]), .greaterThan, .constant(.integer(0)))
    }
}

/// `$0.reviews.allSatisfy { $0.stars > 3 }`
extension PredicateExpressions.SequenceAllSatisfy: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let closure = conversion.closure(variable.key)
        let failing = ExpressionTree.subquery(
            of: try conversion.expression(sequence), variable: closure.name,
            .not(try closure.conversion.predicate(test)))
        return .comparison(failing.appending(keys: ["@count"]), .equalTo, .constant(.integer(0)))
    }
}

/// `$0.reviews.filter { $0.stars > 3 }`
extension PredicateExpressions.Filter: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let closure = conversion.closure(variable.key)
        return .expression(
            .subquery(
                of: try conversion.expression(sequence), variable: closure.name,
                try closure.conversion.predicate(filter)))
    }
}

extension PredicateExpressions.SequenceMinimum: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.minimum, [try conversion.expression(elements)]))
    }
}

extension PredicateExpressions.SequenceMaximum: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.function(.maximum, [try conversion.expression(elements)]))
    }
}

/// A type that knows the names in its key paths, since the key path of an `@NSManaged` property has none of its own.
package protocol KeyPathNaming {
    /// The keys that a key path reads, one after the other; nil if they have no names.
    static func keys(of keyPath: AnyKeyPath) -> [String]?
}

/// The keys that a key path reads: for stored properties, those from the compiler; empty for one that reads the value
/// itself.
package func keys(of keyPath: AnyKeyPath) -> [String]? {
    if keyPath.readsValueItself { return [] }
    if let type = type(of: keyPath).rootType as? any KeyPathNaming.Type { return type.keys(of: keyPath) }
    // `\Track.album?.name?`; a computed property has an address instead of a name.
    let description = keyPath.debugDescription
    guard !description.contains("<computed"), let start = description.firstIndex(of: ".") else { return nil }
    let root = "\(type(of: keyPath).rootType)"
    let prefix = "\\\(root)."
    let path = description.hasPrefix(prefix) ? description.dropFirst(prefix.count) : description[start...].dropFirst()
    let keys = path.split(separator: ".").map { $0.filter { $0 != "?" && $0 != "!" } }
    return keys.contains("") ? nil : keys.withoutSelf
}

extension AnyKeyPath {
    /// The keys that the key path reads, joined by dots; `self` for one that reads the value itself, and `nil` if they
    /// have no names.
    ///
    /// Swift only knows names of Objective-C's properties. Much code uses this property to make predicates and sort
    /// descriptors from `@NSManaged` properties; this declaration takes precedence over the standard library's.
    public var _kvcKeyPathString: String? {
        if readsValueItself { return "self" }
        return keys(of: self).map { $0.joined(separator: ".") }
    }

    fileprivate var readsValueItself: Bool {
        let type = Swift.type(of: self)
        return type.rootType == type.valueType && debugDescription.hasSuffix(".self")
    }
}
