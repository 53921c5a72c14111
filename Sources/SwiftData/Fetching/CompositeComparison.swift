import CoreData
import PredicateFormat

/// Comparisons of whole structs and enumerations, as comparisons of their elements, which have columns.
struct CompositeComparison {
    /// The composite attributes that key paths of a predicate lead to, by their last key.
    private var shapes: [String: CompositeShape] = [:]

    /// A struct or an enumeration of the program, until it is compared.
    private final class Constant: NSObject {
        let shape: CompositeShape
        let elements: [String: Any]

        init(_ shape: CompositeShape, _ elements: [String: Any]) { (self.shape, self.elements) = (shape, elements) }
    }

    /// The expression for a struct or an enumeration of the program; nil for a type without elements.
    static func constant<Value: Codable>(_ value: Value) -> ExpressionTree? {
        guard case .composite(let shape) = AttributeShape(of: Value.self, name: ""),
            let elements = try? CompositeEncoder.elements(of: value, shape)
        else { return nil }
        return .constant(PredicateFormat.Value(Constant(shape, elements)))
    }

    /// Notes where a key path of a predicate leads.
    mutating func note(_ keyPath: AnyKeyPath, _ keys: [String]?) {
        guard let key = keys?.last else { return }
        let value = type(of: keyPath).valueType
        guard case .composite(let shape) = AttributeShape(of: optionalContent(of: value) ?? value, name: key),
            shape.kind != .rawValue
        else { return }
        shapes[key] = shape
    }

    /// The predicate with comparisons of elements.
    ///
    /// - Throws: for a comparison that stores have no equivalent for, such as an order.
    func expanding(_ tree: PredicateTree) throws -> PredicateTree {
        try tree.mapComparisons { comparison in
            var comparison = comparison
            comparison.left = try expanding(comparison.left)
            comparison.right = try expanding(comparison.right)
            return try expanded(comparison)
        }
    }

    private func expanding(_ tree: ExpressionTree) throws -> ExpressionTree {
        try tree.mapParts({ try expanding($0) }, predicates: { try expanding($0) })
    }

    private func expanded(_ comparison: ComparisonTree) throws -> PredicateTree {
        let (left, right) = (Self.constants(comparison.left), Self.constants(comparison.right))
        if left == nil, right == nil { return try expandedNullity(comparison) }
        guard let constants = right ?? left, left == nil || right == nil,
            comparison.modifier == .direct
        else { throw Self.unfit }
        let place = right == nil ? comparison.right : comparison.left
        let conditions = try constants.map { try Self.equality(place, $0.shape, $0.elements) }
        switch comparison.comparison {
        case .equalTo where conditions.count == 1: return conditions[0]
        case .notEqualTo where conditions.count == 1: return .not(conditions[0])
        case .in where right != nil: return conditions.isEmpty ? .constant(false) : .or(conditions)
        default: throw Self.unfit
        }
    }

    private static let unfit = SwiftDataError.unsupportedPredicate.because(
        "Structs and enumerations are compared in a store with == and !=, and with contains in a list of them.")

    /// The structs of a constant; nil for a constant of another kind, and for an expression.
    private static func constants(_ tree: ExpressionTree) -> [Constant]? {
        guard case .constant(let value) = tree else { return nil }
        if let constant = constant(value) { return [constant] }
        guard let elements = value.elements, !elements.isEmpty else { return nil }
        let constants = elements.compactMap(constant)
        return constants.count == elements.count ? constants : nil
    }

    private static func constant(_ value: PredicateFormat.Value) -> Constant? {
        if case .object = value { value.any as? Constant } else { nil }
    }

    /// `$0.size == nil`: no element has a value.
    private func expandedNullity(_ comparison: ComparisonTree) throws -> PredicateTree {
        let isNull: (ExpressionTree) -> Bool = { if case .constant(let value) = $0 { value.isNull } else { false } }
        guard comparison.modifier == .direct, isNull(comparison.left) != isNull(comparison.right),
            [.equalTo, .notEqualTo].contains(comparison.comparison)
        else { return .comparison(comparison) }
        let place = isNull(comparison.right) ? comparison.left : comparison.right
        guard let key = Self.lastKey(of: place), let shape = shapes[key] else { return .comparison(comparison) }
        let conditions = Self.paths(shape, from: place).map {
            PredicateTree.comparison(ComparisonTree($0, .equalTo, .constant(.null)))
        }
        let isNone = PredicateTree.and(conditions)
        return comparison.comparison == .equalTo ? isNone : .not(isNone)
    }

    private static func lastKey(of tree: ExpressionTree) -> String? {
        switch tree {
        case .keyPath(let keys), .path(_, let keys): keys.last
        default: nil
        }
    }

    /// The paths of all columns.
    private static func paths(_ shape: CompositeShape, from place: ExpressionTree) -> [ExpressionTree] {
        shape.elements.flatMap { element -> [ExpressionTree] in
            let path = place.appending(keys: [element.name])
            guard case .value(.composite(let inner)) = element.content else { return [path] }
            return paths(inner, from: path)
        }
    }

    /// The condition that a composite attribute has the elements of a value.
    private static func equality(
        _ place: ExpressionTree, _ shape: CompositeShape, _ elements: [String: Any]
    ) throws -> PredicateTree {
        var conditions: [PredicateTree] = []
        // Of an enumeration, the case that holds is told by its own element.
        for element in shape.elements where shape.kind != .cases || elements[element.name] != nil {
            let path = place.appending(keys: [element.name])
            let value = elements[element.name]
            switch element.content {
            case .caseName, .value(.primitive):
                let constant = PredicateFormat.Value(value)
                conditions.append(.comparison(ComparisonTree(path, .equalTo, .constant(constant))))
            case .value(.composite(let inner)):
                conditions.append(try equality(path, inner, value as? [String: Any] ?? [:]))
            case .value:
                throw SwiftDataError.unsupportedPredicate.because(
                    "“\(element.name)” is kept as bytes, which do not tell in a store whether two are equal.")
            }
        }
        return conditions.count == 1 ? conditions[0] : .and(conditions)
    }
}
