import Foundation

extension PredicateExpressions.Variable: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(try conversion.variable(key))
    }
}

extension PredicateExpressions.Value: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(conversion.constant(value))
    }
}

extension PredicateExpressions.NilLiteral: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.constant(.null))
    }
}

/// `$0.author.name`; `count`, `isEmpty` and similar properties are functions of the language.
extension PredicateExpressions.KeyPath: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        // A property of a value from outside the predicate, such as `settings.limit`, is a constant.
        if let value = try? evaluate(PredicateBindings()) { return .expression(conversion.constant(value)) }
        let origin = try conversion.expression(root)
        let isString = Root.Output.self is any StringProtocol.Type
        switch kind {
        case .collectionCount:
            return .expression(isString ? .function(.length, [origin]) : origin.appending(keys: ["@count"]))
        case .collectionIsEmpty:
            if isString { return .comparison(origin, .equalTo, .constant(.string(""))) }
            return .comparison(origin.appending(keys: ["@count"]), .equalTo, .constant(.integer(0)))
        case .collectionFirst: return .expression(.element(of: origin, at: .first))
        case .bidirectionalCollectionLast: return .expression(.element(of: origin, at: .last))
        default: break
        }
        guard let keys = conversion.keys(keyPath) else {
            throw PredicateWithoutTreeError(
                reason:
                    "The key path \(keyPath) in a #Predicate reads a computed property, which has no name to fetch by.")
        }
        return .expression(keys.isEmpty ? origin : origin.appending(keys: keys))
    }
}

/// `$0.boss?.name`, `$0.title?.isEmpty`: nil without the value before the question mark.
extension PredicateExpressions.OptionalFlatMap: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let origin = try conversion.expression(wrapped)
        if case .constant(let value) = origin, value.isNull { return .expression(origin) }
        // `($0 as? Novel)?.pages`: the keys go on from the object itself, if it is one.
        if case .conditional(let isKind, let object, .constant(let null)) = origin, wrapped is any ClassCast,
            null.isNull
        {
            let value = try conversion.binding(variable.key, to: object).expression(transform)
            return .expression(.conditional(isKind, then: value, otherwise: .constant(.null)))
        }
        let value = try conversion.binding(variable.key, to: origin).expression(transform)
        if origin.isConstant || value.isNil(with: origin) || isRelationship(Wrapped.self) { return .expression(value) }
        return .expression(.conditional(origin.isPresent, then: value, otherwise: .constant(.null)))
    }
}

/// Whether a type is that of a relationship to many, which Core Data always has objects for, if only none: an empty one
/// equals nil in the predicate language, so that there is no asking for it.
private func isRelationship(_ type: Any.Type) -> Bool {
    func hasObjects<List: Collection>(_ list: List.Type) -> Bool { List.Element.self is AnyClass }
    return (type as? any Collection.Type).map { hasObjects($0) } ?? false
}

extension ExpressionTree {
    /// The predicate that the value is not nil.
    fileprivate var isPresent: PredicateTree {
        .comparison(ComparisonTree(self, .notEqualTo, .constant(.null)))
    }

    /// Whether the value is nil where another one is, since it follows keys from there or is computed with what does.
    fileprivate func isNil(with origin: ExpressionTree) -> Bool {
        switch self {
        case origin: true
        case .keyPath(let keys), .path(_, let keys):
            keys.indices.contains { index in
                let rest = Array(keys[index...])
                return !rest.contains { $0.hasPrefix("@") } && origin.appending(keys: rest) == self
            }
        case .function(let function, let arguments):
            !function.takesCollection && arguments.contains { $0.isNil(with: origin) }
        default: false
        }
    }
}

/// `$0.name!`
extension PredicateExpressions.ForcedUnwrap: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(try conversion.expression(inner))
    }
}

/// `$0.age ?? 0`
extension PredicateExpressions.NilCoalesce: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let value = try conversion.expression(lhs)
        let other = try conversion.expression(rhs)
        if case .constant(let constant) = value { return .expression(constant.isNull ? other : value) }
        // What an optional chain tells by itself, such as whether a text is empty, is not repeated in a condition.
        if case .conditional(let isPresent, let value, .constant(.null)) = value, value.isTruth {
            return .expression(.conditional(isPresent, then: value, otherwise: other))
        }
        return .expression(.conditional(value.isPresent, then: value, otherwise: other))
    }
}

/// `$0.age > 17 ? "adult" : "child"`
extension PredicateExpressions.Conditional: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(
            .conditional(
                try conversion.predicate(test), then: try conversion.expression(trueBranch),
                otherwise: try conversion.expression(falseBranch)))
    }
}

/// `$0.tags[0]`
extension PredicateExpressions.CollectionIndexSubscript: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(
            .element(of: try conversion.expression(wrapped), at: .at(try conversion.expression(index))))
    }
}

/// `$0.sizes["small"]`
extension PredicateExpressions.DictionaryKeySubscript: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(.element(of: try conversion.expression(wrapped), at: .at(try conversion.expression(key))))
    }
}

/// `as?` of an object.
private protocol ClassCast {}

extension PredicateConversion {
    /// The condition that an object is one of a class.
    fileprivate func isObject(_ object: ExpressionTree, of type: Any.Type) throws -> PredicateTree {
        guard let entities = entities(type) else {
            throw PredicateWithoutTreeError(
                reason:
                    "Whether a value is a \(type) has no equivalent in the predicate language. Filter what has been "
                    + "fetched.")
        }
        return .comparison(ComparisonTree(object.appending(keys: ["entity"]), .in, entities))
    }
}

/// `$0 is Novel`
extension PredicateExpressions.TypeCheck: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .predicate(try conversion.isObject(conversion.expression(input), of: Desired.self))
    }
}

/// `$0 as? Novel`
extension PredicateExpressions.ConditionalCast: TreeConvertible, ClassCast {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        let object = try conversion.expression(input)
        let isKind = try conversion.isObject(object, of: Desired.self)
        return .expression(.conditional(isKind, then: object, otherwise: .constant(.null)))
    }
}

/// `$0 as! Novel`
extension PredicateExpressions.ForceCast: TreeConvertible {
    func converted(by conversion: PredicateConversion) throws -> ConvertedNode {
        .expression(try conversion.expression(input))
    }
}

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
