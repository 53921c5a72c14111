import Foundation

/// Reads archived predicates and expressions as trees.
package enum PredicateArchiveReader {
    /// Archives come from outside and may nest without end, or form cycles.
    private static let maximumDepth = 100

    package static func predicate(_ object: ArchivedObject, depth: Int = maximumDepth) throws -> PredicateTree {
        guard depth > 0 else { throw tooDeep(object) }
        if object.isKind(of: "NSCompoundPredicate") {
            let parts = try (object.optionalObjects(forKey: "NSSubpredicates") ?? []).map {
                try predicate($0, depth: depth - 1)
            }
            let type = try object.integer(forKey: "NSCompoundPredicateType", default: 0)
            switch (type, parts.count) {
            case (0, 1): return .not(parts[0])
            case (1, _): return .and(parts)
            case (2, _): return .or(parts)
            default:
                throw object.error(
                    "NSCompoundPredicateType", expected: "NOT with one part, AND or OR",
                    found: "type \(type), \(parts.count) parts")
            }
        }
        if object.isKind(of: "NSComparisonPredicate") { return .comparison(try comparison(object, depth: depth)) }
        if object.isKind(of: "NSTruePredicate") { return .constant(true) }
        if object.isKind(of: "NSFalsePredicate") { return .constant(false) }
        throw object.unknownClass(expected: "a predicate that an archive can hold")
    }

    private static func comparison(_ object: ArchivedObject, depth: Int) throws -> ComparisonTree {
        let operation = try object.object(forKey: "NSPredicateOperator")
        let number = try operation.integer(forKey: "NSOperatorType")
        guard let comparison = UInt(exactly: number).flatMap(ComparisonOperator.init) else {
            throw operation.error("NSOperatorType", expected: "a comparison of Core Data's", found: "\(number)")
        }
        let modifierNumber = try operation.integer(forKey: "NSModifier", default: 0)
        guard let modifier = UInt(exactly: modifierNumber).flatMap(ComparisonModifier.init) else {
            throw operation.error("NSModifier", expected: "0 to 2", found: "\(modifierNumber)")
        }
        // The string operators call their options flags.
        let options = try operation.integer(
            forKey: "NSOptions", default: operation.integer(forKey: "NSFlags", default: 0))
        let negates = try operation.boolean(forKey: "NSNegate")
        return ComparisonTree(
            try expression(object.object(forKey: "NSLeftExpression"), depth: depth - 1),
            negates && comparison == .equalTo ? .notEqualTo : comparison,
            try expression(object.object(forKey: "NSRightExpression"), depth: depth - 1),
            modifier: modifier, options: StringOptions(rawValue: UInt(clamping: options)))
    }

    package static func expression(_ object: ArchivedObject, depth: Int = maximumDepth) throws -> ExpressionTree {
        guard depth > 0 else { throw tooDeep(object) }
        let type = try object.integer(forKey: "NSExpressionType")
        switch type {
        case 0: return .constant(try constant(object))
        case 1: return .evaluatedObject
        case 2: return .variable(try object.string(forKey: "NSVariable"))
        case 3, 4: return try function(object, depth: depth)
        case 5: return try set(.union, object, depth: depth)
        case 6: return try set(.intersect, object, depth: depth)
        case 7: return try set(.minus, object, depth: depth)
        case 10: return .keyPath(keys(try object.string(forKey: "NSKeyPath")))
        case 13:
            let collection = try expression(object.object(forKey: "NSCollection"), depth: depth - 1)
            let condition = try predicate(object.object(forKey: "NSPredicate"), depth: depth - 1)
            return .subquery(of: collection, variable: try object.string(forKey: "NSVariable"), condition)
        case 14:
            let elements = try object.optionalObjects(forKey: "NSCollection") ?? []
            return .aggregate(try elements.map { try expression($0, depth: depth - 1) })
        case 15: return .anyKey
        case 20:
            return .conditional(
                try predicate(object.object(forKey: "NSPredicate"), depth: depth - 1),
                then: try expression(object.object(forKey: "NSTrueExpression"), depth: depth - 1),
                otherwise: try expression(object.object(forKey: "NSFalseExpression"), depth: depth - 1))
        case 50:
            return .fetch(
                try expression(object.object(forKey: "NSFRExpression"), depth: depth - 1),
                in: try expression(object.object(forKey: "NSMOCExpression"), depth: depth - 1),
                countOnly: try object.boolean(forKey: "NSCountOnlyFlag"))
        default:
            throw object.error(
                "NSExpressionType", expected: "an expression that an archive can hold", found: "type \(type)")
        }
    }

    private static func tooDeep(_ object: ArchivedObject) -> KeyedArchiveError {
        object.error(
            nil, expected: "at most \(maximumDepth) levels of predicates and expressions", found: "more, or a circle")
    }

    private static func constant(_ object: ArchivedObject) throws -> Value {
        let value = try object.value(forKey: "NSConstantValue")
        if case .null = value { return .null }
        // Not as a set of Foundation's, which cannot hold decimals on Linux.
        if case .object(let collection) = value, let elements = try collection.elements() {
            return .collection(try elements.map { Value(try foundationValue($0, in: object)) })
        }
        return Value(try foundationValue(value, in: object))
    }

    private static func foundationValue(_ value: ArchivedValue, in object: ArchivedObject) throws -> Any {
        guard let constant = try value.foundationValue() else {
            throw object.error("NSConstantValue", expected: "a value of Foundation's", found: value.kind)
        }
        return constant
    }

    private static func set(_ operation: SetOperation, _ object: ArchivedObject, depth: Int) throws -> ExpressionTree {
        .set(
            operation, try expression(object.object(forKey: "NSLeftExpression"), depth: depth - 1),
            try expression(object.object(forKey: "NSRightExpression"), depth: depth - 1))
    }

    /// Key paths are calls of `valueForKeyPath:` on their starting object; built-in functions are calls on the class
    /// `_NSPredicateUtilities`.
    private static func function(_ object: ArchivedObject, depth: Int) throws -> ExpressionTree {
        let name = try object.string(forKey: "NSSelectorName")
        let arguments = try object.optionalObjects(forKey: "NSArguments") ?? []
        let operand = try object.object(forKey: "NSOperand")
        if name == "valueForKey:" || name == "valueForKeyPath:", arguments.count == 1 {
            let argument = try expression(arguments[0], depth: depth - 1)
            // FUNCTION($source, "valueForKey:", "name") has a string there.
            guard case .keyPath(let keys) = argument else {
                return .call(on: try expression(operand, depth: depth - 1), name: name, arguments: [argument])
            }
            switch try expression(operand, depth: depth - 1) {
            case .evaluatedObject: return .keyPath(keys)
            case .path(let start, let first): return .path(from: start, first + keys)
            case .keyPath(let first): return .keyPath(first + keys)
            case let start: return .path(from: start, keys)
            }
        }
        let isBuiltIn = try operand.optionalString(forKey: "NSConstantValueClassName") == "_NSPredicateUtilities"
        if isBuiltIn, name == "objectFrom:withIndex:", arguments.count == 2 {
            let collection = try expression(arguments[0], depth: depth - 1)
            return .element(of: collection, at: try index(arguments[1], depth: depth - 1))
        }
        let trees = try arguments.map { try expression($0, depth: depth - 1) }
        guard isBuiltIn else {
            return .call(on: try expression(operand, depth: depth - 1), name: name, arguments: trees)
        }
        if name == "castObject:toType:", trees.count == 2 { return .cast(trees[0], to: trees[1]) }
        guard let function = BuiltInFunction(rawValue: name), function.argumentCount == trees.count else {
            throw object.error("NSSelectorName", expected: "a built-in function with its arguments", found: "“\(name)”")
        }
        return .function(function, trees)
    }

    /// The brackets after a key path: `[FIRST]`, `[LAST]` and `[SIZE]` are archived as symbols.
    private static func index(_ object: ArchivedObject, depth: Int) throws -> ElementIndex {
        guard object.isKind(of: "NSSymbolicExpression") else { return .at(try expression(object, depth: depth)) }
        switch try object.string(forKey: "NSSymbolToken") {
        case "FIRST": return .first
        case "LAST": return .last
        case "SIZE": return .size
        case let token: throw object.error("NSSymbolToken", expected: "FIRST, LAST or SIZE", found: "“\(token)”")
        }
    }

    private static func keys(_ path: String) -> [String] { path.split(separator: ".").map(String.init) }
}
