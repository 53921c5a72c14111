import Foundation

/// An expression compiled for repeated evaluation.
package final class CompiledExpression: Sendable {
    typealias Code = @Sendable (Scope) -> Value

    private let code: Code
    private let assigns: Bool

    package init(_ tree: ExpressionTree) {
        code = CompiledExpression.compile(tree)
        assigns = tree.assigns
    }

    /// The expression's value for an object.
    package func evaluate(_ object: Value, variables: [String: Value] = [:]) -> Value {
        code(Scope(object: object, variables: variables, assigns: assigns))
    }

    static func compile(_ tree: ExpressionTree) -> Code {
        switch tree {
        case .constant(let value): return { _ in value }
        // Arguments have been replaced by constants before.
        case .argument: return { _ in .null }
        case .evaluatedObject: return { $0.object }
        case .keyPath(let keys): return compileKeyPath(keys)
        case .variable(let name): return { $0.value(ofVariable: name) }
        case .assignment(let name, let value):
            let value = compile(value)
            return { scope in
                let result = value(scope)
                scope.assigned?.values[name] = result
                return result
            }
        case .path(let origin, let keys):
            let origin = compile(origin)
            return { origin($0).value(forKeyPath: keys) }
        case .element(let collection, let index): return compileElement(of: collection, at: index)
        case .function(let function, let arguments): return compileFunction(function, arguments)
        case .aggregate(let elements):
            let codes = elements.map(compile)
            return { scope in .collection(codes.map { $0(scope) }) }
        case .listed(let list, let kind):
            let list = compile(list)
            return { kind.values(in: list($0)) }
        case .cast(let expression, let type): return compileCast(expression, type)
        case .subquery(let collection, let variable, let predicate):
            return compileSubquery(collection, variable, predicate)
        case .conditional(let condition, let then, let otherwise):
            let test = CompiledPredicate.compile(condition)
            let (first, second) = (compile(then), compile(otherwise))
            return { test($0) ? first($0) : second($0) }
        case .set(let operation, let left, let right):
            let (first, second) = (compile(left), compile(right))
            return { operation.apply(to: first($0), second($0)) }
        case .call(let operand, let name, let arguments): return compileCall(on: operand, name, arguments)
        case .fetch(let request, let context, let countOnly): return compileFetch(request, context, countOnly)
        case .anyKey:
            return { _ in programmerError("ANYKEY cannot be evaluated in memory: name the keys to compare.") }
        case .block(let reference, let arguments):
            let codes = arguments.map(compile)
            return { scope in
                let values = codes.map { $0(scope).any ?? NSNull() }
                return Value(reference.block(scope.object.any, values, nil))
            }
        }
    }

    private static func compileKeyPath(_ keys: [String]) -> Code {
        let hasOperator = keys.contains { $0.hasPrefix("@") }
        if keys.count == 1, !hasOperator, let name = keys.first {
            let key = OperandKey(name)
            return { scope in
                if case .object(let reference) = scope.object { return reference.operand.operand(forKey: key) }
                return scope.object.value(forKey: name)
            }
        }
        return { $0.object.value(forKeyPath: keys) }
    }

    /// The values that `ANY` and `ALL` look at. Where a to-one relationship before a to-many one has no object, there
    /// are none, rather than one that is `nil`: `ANY author.books.title == nil`.
    static func compileElements(_ tree: ExpressionTree) -> Code {
        let (origin, keys): (Code, [String])
        switch tree {
        case .keyPath(let path) where path.count > 1: (origin, keys) = ({ $0.object }, path)
        case .path(let start, let path) where path.count > 1: (origin, keys) = (compile(start), path)
        default: return compile(tree)
        }
        // The origin is computed once: a condition within it may have such paths, too.
        return { scope in
            let object = origin(scope)
            let found = object.value(forKeyPath: keys)
            guard found.isNull, case .object(let reference) = object, reference.operand.leadsToMany(keys) else {
                return found
            }
            return .collection([])
        }
    }

    private static func compileElement(of tree: ExpressionTree, at index: ElementIndex) -> Code {
        let collection = compile(tree)
        switch index {
        case .first: return { collection($0).elements?.first ?? .null }
        case .last: return { collection($0).elements?.last ?? .null }
        case .size: return compileCount(of: tree)
        case .at(let position):
            let position = compile(position)
            return { scope in
                switch (collection(scope), position(scope)) {
                case (.collection(let elements), let number):
                    guard let index = number.integerValue, index >= 0, index < elements.count else { return .null }
                    return elements[Int(index)]
                case (.object(let reference), .string(let key)): return reference.operand.operand(forKey: key)
                default: return .null
                }
            }
        }
    }

    private static func compileFunction(_ function: BuiltInFunction, _ arguments: [ExpressionTree]) -> Code {
        if function == .count, arguments.count == 1 { return compileCount(of: arguments[0]) }
        let codes = arguments.map(compile)
        return { scope in function.apply(codes.map { $0(scope) }) }
    }

    /// `count:(staff.name)` and `staff.name[SIZE]` are `staff.name.@count`.
    private static func compileCount(of tree: ExpressionTree) -> Code {
        let count = CollectionOperator.count.rawValue
        switch tree {
        case .keyPath(let keys) where !keys.contains { $0.hasPrefix("@") }: return compile(.keyPath(keys + [count]))
        case .path(from: let origin, let keys) where !keys.contains { $0.hasPrefix("@") }:
            return compile(.path(from: origin, keys + [count]))
        default:
            let collection = compile(tree)
            return { BuiltInFunction.count.apply([collection($0)]) }
        }
    }

    /// The function is looked up when it is called, since a program may register it after making the predicate.
    private static func compileCall(
        on operand: ExpressionTree, _ name: String, _ arguments: [ExpressionTree]
    ) -> Code {
        let operand = compile(operand)
        let codes = arguments.map(compile)
        return { scope in
            guard let function = MethodFunctions.function(named: name) else {
                programmerError(
                    "FUNCTION(…, \"\(name)\") names a method that is not known here. Register it by "
                        + "NSExpression.registerFunction(_:_:), or use NSExpression(block:arguments:).")
            }
            return function(operand(scope), codes.map { $0(scope) })
        }
    }

    private static func compileFetch(
        _ request: ExpressionTree, _ context: ExpressionTree, _ countOnly: Bool
    ) -> Code {
        let (request, context) = (compile(request), compile(context))
        return { scope in
            guard case .object(let reference) = request(scope), let request = reference.object as? any FetchingOperand
            else { programmerError("FETCH takes a fetch request, not \(request(scope).kindDescription).") }
            return request.fetchedValue(in: context(scope).any, countOnly: countOnly)
        }
    }

    private static func compileCast(_ expression: ExpressionTree, _ type: ExpressionTree) -> Code {
        let (expression, type) = (compile(expression), compile(type))
        return { scope in
            guard case .string(let name) = type(scope) else { return .null }
            return expression(scope).cast(to: name) ?? .null
        }
    }

    /// The elements for which the predicate is true. Inside it, key paths still start at the evaluated object.
    private static func compileSubquery(
        _ collection: ExpressionTree, _ variable: String, _ predicate: PredicateTree
    ) -> Code {
        let collection = compile(collection)
        let test = CompiledPredicate.compile(predicate)
        return { scope in
            // For a to-one relationship, its object or none.
            let elements: [Value]
            switch collection(scope) {
            case .collection(let several): elements = several
            case .null: elements = []
            case let one: elements = [one]
            }
            var inner = scope
            return .collection(
                elements.filter { element in
                    // A missing element has no values to test.
                    if element.isNull { return false }
                    inner.variables[variable] = element
                    return test(inner)
                })
        }
    }
}
