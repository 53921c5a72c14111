import Foundation

/// Writes predicates and expressions as Foundation archives them.
package enum PredicateArchiveWriter {
    package static func predicate(_ tree: PredicateTree, _ builder: inout KeyedArchiveBuilder) throws -> PropertyList {
        switch tree {
        case .constant(let value):
            let name = value ? "NSTruePredicate" : "NSFalsePredicate"
            return builder.add(classNames: [name, "NSPredicate", "NSObject"], fields: [:])
        case .comparison(let comparison): return try self.comparison(comparison, &builder)
        case .and(let parts): return try compound(1, parts, &builder)
        case .or(let parts): return try compound(2, parts, &builder)
        case .not(let part): return try compound(0, [part], &builder)
        }
    }

    private static func compound(
        _ type: Int64, _ parts: [PredicateTree], _ builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        var references: [PropertyList] = []
        for part in parts { references.append(try predicate(part, &builder)) }
        return builder.add(
            classNames: ["NSCompoundPredicate", "NSPredicate", "NSObject"],
            fields: ["NSCompoundPredicateType": .integer(type), "NSSubpredicates": builder.array(references)])
    }

    private static func comparison(
        _ tree: ComparisonTree, _ builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        let left = try expression(tree.left, &builder)
        let right = try expression(tree.right, &builder)
        let operation = operatorObject(tree, &builder)
        return builder.add(
            classNames: ["NSComparisonPredicate", "NSPredicate", "NSObject"],
            fields: ["NSLeftExpression": left, "NSRightExpression": right, "NSPredicateOperator": operation])
    }

    private static func operatorObject(_ tree: ComparisonTree, _ builder: inout KeyedArchiveBuilder) -> PropertyList {
        let options = PropertyList.integer(Int64(tree.options.rawValue))
        let className: String
        var fields: [String: PropertyList] = [:]
        switch tree.comparison {
        case .equalTo, .notEqualTo:
            className = "NSEqualityPredicateOperator"
            fields = ["NSNegate": .boolean(tree.comparison == .notEqualTo), "NSOptions": options]
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo:
            className = "NSComparisonPredicateOperator"
            fields = ["NSVariant": .integer(Int64(tree.comparison.rawValue)), "NSOptions": options]
        case .in, .contains:
            className = "NSInPredicateOperator"
            fields = ["NSFlags": options]
        case .beginsWith, .endsWith:
            className = "NSSubstringPredicateOperator"
            fields = ["NSFlags": options, "NSPosition": .integer(tree.comparison == .beginsWith ? 0 : 1)]
        case .like:
            className = "NSLikePredicateOperator"
            fields = ["NSFlags": options]
        case .matches:
            className = "NSMatchingPredicateOperator"
            fields = ["NSFlags": options]
        case .between:
            className = "NSBetweenPredicateOperator"
        }
        fields["NSModifier"] = .integer(Int64(tree.modifier.rawValue))
        fields["NSOperatorType"] = .integer(Int64(tree.comparison.rawValue))
        return builder.add(classNames: [className, "NSPredicateOperator", "NSObject"], fields: fields)
    }

    package static func expression(_ tree: ExpressionTree, _ builder: inout KeyedArchiveBuilder) throws -> PropertyList
    {
        switch tree {
        case .constant(let value):
            let constant = try builder.foundationValue(value.any)
            return add("NSConstantValueExpression", 0, ["NSConstantValue": constant], &builder)
        case .evaluatedObject:
            return add("NSSelfExpression", 1, [:], &builder)
        case .variable(let name):
            return add("NSVariableExpression", 2, ["NSVariable": builder.string(name)], &builder)
        case .keyPath(let keys):
            return try keyPath(from: .evaluatedObject, keys, &builder)
        case .path(let start, let keys):
            return try keyPath(from: start, keys, &builder)
        case .function(let function, let arguments):
            return try utility(function.rawValue, arguments, &builder)
        case .cast(let value, let type):
            return try utility("castObject:toType:", [value, type], &builder)
        case .call(let operand, let name, let arguments):
            let target = try expression(operand, &builder)
            return try call(name, on: target, arguments.map { try expression($0, &builder) }, &builder)
        // No archive can express it; what it reads is an attribute all the same.
        case .listed(let list, _):
            return try expression(list, &builder)
        case .aggregate(let elements):
            let references = try elements.map { try expression($0, &builder) }
            return add("NSAggregateExpression", 14, ["NSCollection": builder.array(references)], &builder)
        case .set(let operation, let left, let right):
            let type: Int64 = operation == .union ? 5 : operation == .intersect ? 6 : 7
            let fields = [
                "NSLeftExpression": try expression(left, &builder),
                "NSRightExpression": try expression(right, &builder),
            ]
            return add("NSSetExpression", type, fields, &builder)
        case .subquery(let collection, let variable, let condition):
            let fields = [
                "NSCollection": try expression(collection, &builder), "NSVariable": builder.string(variable),
                "NSPredicate": try predicate(condition, &builder),
            ]
            return add("NSSubqueryExpression", 13, fields, &builder)
        case .conditional(let condition, let then, let otherwise):
            let fields = [
                "NSPredicate": try predicate(condition, &builder), "NSTrueExpression": try expression(then, &builder),
                "NSFalseExpression": try expression(otherwise, &builder),
            ]
            return add("NSTernaryExpression", 20, fields, &builder)
        case .anyKey:
            return add("NSAnyKeyExpression", 15, [:], &builder)
        case .element(let collection, let index):
            return try element(of: collection, at: index, &builder)
        case .fetch(let request, let context, let countOnly):
            let fields = [
                "NSFRExpression": try expression(request, &builder),
                "NSMOCExpression": try expression(context, &builder),
                "NSCountOnlyFlag": PropertyList.boolean(countOnly),
            ]
            return add("NSFetchRequestExpression", 50, fields, &builder)
        case .assignment(let name, _):
            throw ModelFileError(.unwritable, reason: "the assignment to $\(name) cannot be written to a file")
        case .argument, .block:
            throw ModelFileError(.unwritable, reason: "an expression made of code cannot be written to a file")
        }
    }

    private static func add(
        _ className: String, _ type: Int64, _ fields: [String: PropertyList], _ builder: inout KeyedArchiveBuilder
    ) -> PropertyList {
        var fields = fields
        fields["NSExpressionType"] = .integer(type)
        return builder.add(classNames: [className, "NSExpression", "NSObject"], fields: fields)
    }

    /// A key path from the evaluated object has type 3, one from anything else type 4.
    private static func keyPath(
        from start: ExpressionTree, _ keys: [String], _ builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        let operand = try expression(start, &builder)
        let path = add(
            "NSKeyPathSpecifierExpression", 10, ["NSKeyPath": builder.string(keys.joined(separator: "."))], &builder)
        let isDirect = start == .evaluatedObject
        let selector = builder.string(isDirect && keys.count == 1 ? "valueForKey:" : "valueForKeyPath:")
        return builder.add(
            classNames: ["NSKeyPathExpression", "NSFunctionExpression", "NSExpression", "NSObject"],
            fields: [
                "NSOperand": operand, "NSSelectorName": selector, "NSExpressionType": .integer(isDirect ? 3 : 4),
                "NSArguments": builder.array([path], isMutable: true),
            ])
    }

    private static func utility(
        _ name: String, _ arguments: [ExpressionTree], _ builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        try call(name, on: utilities(&builder), arguments.map { try expression($0, &builder) }, &builder)
    }

    private static func utilities(_ builder: inout KeyedArchiveBuilder) -> PropertyList {
        add(
            "NSConstantValueExpression", 0, ["NSConstantValueClassName": builder.string("_NSPredicateUtilities")],
            &builder)
    }

    private static func call(
        _ name: String, on operand: PropertyList, _ arguments: [PropertyList], _ builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        let fields = [
            "NSOperand": operand, "NSSelectorName": builder.string(name), "NSArguments": builder.array(arguments),
        ]
        return add("NSFunctionExpression", 4, fields, &builder)
    }

    private static func element(
        of collection: ExpressionTree, at index: ElementIndex, _ builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        func symbol(_ name: String) -> PropertyList {
            add("NSSymbolicExpression", 11, ["NSSymbolToken": builder.string(name)], &builder)
        }
        let target = utilities(&builder)
        let owner = try expression(collection, &builder)
        let position: PropertyList
        switch index {
        case .first: position = symbol("FIRST")
        case .last: position = symbol("LAST")
        case .size: position = symbol("SIZE")
        case .at(let tree): position = try expression(tree, &builder)
        }
        return try call("objectFrom:withIndex:", on: target, [owner, position], &builder)
    }
}
