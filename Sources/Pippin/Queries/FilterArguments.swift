import StoreSession

/// A model, or a reference to one, as an argument of a format: it is compared by its identifier.
final class ModelArgument: NSObject, @unchecked Sendable {
    // @unchecked Sendable: identifiers are values, and do not change.
    let type: Any.Type
    let uid: Any

    init(type: Any.Type, uid: Any) {
        self.type = type
        self.uid = uid
    }
}

extension NSPredicate {
    /// The predicate in the store's terms: with the names of its attributes, with models and references compared by
    /// their identifiers, and about a member of a list where the scope is that.
    func inStoredTerms(_ scope: FilterScope) throws -> NSPredicate {
        // The code that runs the predicate refuses Swift code.
        guard let tree = try? predicateTree(of: self) else { return self }
        let (plan, registry) = (scope.plan, scope.registry)
        var stored = try StoredNames(plan, registry).predicate(tree)
        if stored.hasModels { stored = try stored.withIdentifiers(plan, registry) }
        if let variable = scope.variable { stored = try stored.about(variable, plan, registry) }
        return stored == tree ? self : makePredicate(stored)
    }
}

extension PredicateTree {
    fileprivate var hasModels: Bool {
        var found = false
        forEachConstant { found = found || $0.modelType != nil }
        return found
    }

    /// The predicate about the value of a variable, in the place of the evaluated object.
    ///
    /// - Throws: ``PersistenceError/Code/notComparable`` for a function of all objects, which are not those of a
    ///   list.
    fileprivate func about(
        _ variable: String, _ plan: EntityPlan, _ registry: ModelRegistry
    ) throws -> PredicateTree {
        try mapExpressions { expression in
            switch expression {
            case .evaluatedObject: return .variable(variable)
            case .keyPath(let keys):
                guard CollectionOperator.functionOverAll(keys) == nil else {
                    throw PersistenceError.computedOverAll(expression.format, entity: plan.name)
                }
                return .path(from: .variable(variable), keys)
            case .function(let function, let arguments) where function.takesCollection:
                guard case .path(from: .variable(variable), let keys)? = arguments.first,
                    try registry.attributeKind(of: keys.joined(separator: "."), in: plan) != nil
                else { return expression }
                throw PersistenceError.computedOverAll(expression.format, entity: plan.name)
            default: return expression
            }
        }
    }

    fileprivate func withIdentifiers(_ plan: EntityPlan, _ registry: ModelRegistry) throws -> PredicateTree {
        try mapComparisons { comparison in
            var comparison = comparison
            let type = comparison.left.modelType ?? comparison.right.modelType
            comparison.left = try comparison.left.inner(plan, registry)
            comparison.right = try comparison.right.inner(plan, registry)
            guard let type else { return .comparison(comparison) }
            let uidKey = try registry.plan(of: type).uidKey
            comparison.left = try comparison.left.identifier(uidKey, plan, registry)
            comparison.right = try comparison.right.identifier(uidKey, plan, registry)
            return .comparison(comparison)
        }
    }
}

extension ExpressionTree {
    /// The model that a constant stands for, as one of several values, too.
    fileprivate var modelType: Any.Type? {
        switch self {
        case .constant(let value): value.modelType
        case .conditional(_, let then, let otherwise): then.modelType ?? otherwise.modelType
        case .aggregate(let elements): elements.lazy.compactMap(\.modelType).first
        default: nil
        }
    }

    /// The expression, with the predicates in it converted.
    fileprivate func inner(_ plan: EntityPlan, _ registry: ModelRegistry) throws -> ExpressionTree {
        try mapParts({ try $0.inner(plan, registry) }, predicates: { try $0.withIdentifiers(plan, registry) })
    }

    /// The identifier of the model that an expression evaluates to.
    ///
    /// - Throws: ``PersistenceError/Code/notComparable`` for an expression that leads to no model.
    fileprivate func identifier(
        _ uidKey: String, _ plan: EntityPlan, _ registry: ModelRegistry
    ) throws -> ExpressionTree {
        switch self {
        case .constant(let value): return .constant(value.identifier)
        case .evaluatedObject: return .keyPath([uidKey])
        case .keyPath(let keys):
            // The path ends at the identifier already.
            let path = keys.joined(separator: ".")
            return try registry.attributeKind(of: path, in: plan) == nil ? .keyPath(keys + [uidKey]) : self
        case .path(let origin, let keys): return keys.last == uidKey ? self : .path(from: origin, keys + [uidKey])
        case .variable: return .path(from: self, [uidKey])
        case .conditional(let condition, let then, let otherwise):
            return .conditional(
                condition, then: try then.identifier(uidKey, plan, registry),
                otherwise: try otherwise.identifier(uidKey, plan, registry))
        case .aggregate(let elements):
            return .collection(of: try elements.map { try $0.identifier(uidKey, plan, registry) })
        default:
            throw PersistenceError.notComparable(
                property: "\(makeExpression(self))", entity: plan.name, type: "model")
        }
    }
}

extension Value {
    /// The model that the value, or the first model of a list, is.
    fileprivate var modelType: Any.Type? { (elements ?? [self]).lazy.compactMap { $0.model?.type }.first }

    fileprivate var model: ModelArgument? {
        guard case .object(let reference) = self else { return nil }
        return reference.object as? ModelArgument ?? FilterArgument.operand(reference.object) as? ModelArgument
    }

    fileprivate var identifier: Value {
        if let elements { return .collection(elements.map(\.identifier)) }
        return model.map { Value($0.uid) } ?? self
    }
}

/// A value of a program, as an argument of a format or in a Swift predicate.
enum FilterArgument {
    /// The value in the form that the predicate language takes: what a store keeps for it. A value is coded for that,
    /// as its property is, and each value of a list.
    static func operand(_ value: Any) -> Any {
        if isBasic(type(of: value)) { return value }
        switch value {
        case let reference as any ModelReference:
            guard let key = try? reference.keyValue() else { return value }
            return ModelArgument(type: type(of: reference).target, uid: key)
        case let model as any CoreModel:
            guard let key = try? model.keyValue() else { return value }
            return ModelArgument(type: type(of: model), uid: key)
        case let list as any ModelCollection where isModel(type(of: list).member):
            return list.members.map(operand)
        // The type is asked, since each value can be cast to an object on Linux, in a box.
        case _ where type(of: value) is NSObject.Type || value is [AnyHashable: Any]: return value
        case let optional as any OptionalValue: return optional.wrappedValue.map { operand($0) } ?? value
        case let list as any Collection: return operands(of: list)
        case let value as any Encodable:
            guard let stored = try? AttributeEncoder.comparable(value) else { return value }
            return hasOwnOrder(type(of: value)) ? CaseArgument(value, stored: stored) : stored
        default: return value
        }
    }

    private static func operands<Values: Collection>(of values: Values) -> Any {
        isBasic(Values.Element.self) ? values : values.map { operand($0) }
    }

    /// Whether the predicate language takes values of a type as they are.
    private static func isBasic(_ type: Any.Type) -> Bool {
        type == String.self || type == Int.self || type == Double.self || type == Bool.self
            || AttributeKind(of: type) != nil || type is any BinaryInteger.Type || type is any BinaryFloatingPoint.Type
            || type is any StringProtocol.Type
    }

    private static func isModel(_ type: Any.Type) -> Bool {
        type is any ModelReference.Type || type is any CoreModel.Type
    }
}

extension Filter {
    /// The content of a Swift predicate.
    static func term(_ predicate: Predicate<Model>) -> FilterTerm {
        do {
            let tree = try predicateTree(
                of: predicate, constant: { constantTree($0.map(FilterArgument.operand)) }, ordersRawValues: false)
            return .predicate(makePredicate(try tree.withStoredCases(of: "\(Model.self)")))
        } catch let error as EnumerationOrderError {
            return .failed(
                PersistenceError.unknownOrder(property: error.value, entity: "\(Model.self)", type: error.type))
        } catch { return .malformed(error) }
    }

    /// The content of a format.
    static func term(_ format: String, _ arguments: [Any]) -> FilterTerm {
        do {
            let operands = arguments.map(FilterArgument.operand)
            let predicate = try NSPredicate(parsing: format, arguments: operands)
            guard operands.contains(where: CaseArgument.isWithin) else { return .predicate(predicate) }
            let tree = try predicateTree(of: predicate)
            return .predicate(makePredicate(try tree.withStoredCases(of: "\(Model.self)")))
        } catch { return .malformed(error) }
    }
}
