import CoreDataModel
import Foundation
import StoreEngine

/// The dictionaries of a plan: one for each object, or one for each group of objects with the same values.
struct ReferenceDictionaries {
    private let plan: FetchPlan

    init(_ plan: FetchPlan) { self.plan = plan }

    func dictionaries(of objects: [ReferenceObject]) throws -> [[String: Any]] {
        var groups = objects.map { [$0] }
        if !plan.groupBy.isEmpty {
            groups = grouped(objects)
        } else if plan.columns.contains(where: { aggregate($0) != nil }) {
            groups = [objects]
        }
        if let having = plan.having {
            let tree = try predicateTree(of: having)
            groups = groups.filter { satisfies(tree, $0) }
        }
        let dictionaries = groups.map(values)
        guard plan.isDistinct else { return dictionaries.map { $0.compactMapValues(\.any) } }
        var seen: Set<[String: Value]> = []
        return dictionaries.filter { seen.insert($0).inserted }.map { $0.compactMapValues(\.any) }
    }

    /// Objects with the same values together, in the order of the first of each group.
    private func grouped(_ objects: [ReferenceObject]) -> [[ReferenceObject]] {
        var positions: [[Value]: Int] = [:]
        var groups: [[ReferenceObject]] = []
        for object in objects {
            let values = plan.groupBy.map { value($0, of: object) }
            if let position = positions[values] {
                groups[position].append(object)
            } else {
                positions[values] = groups.count
                groups.append([object])
            }
        }
        return groups
    }

    /// The values of the columns; what is nil is left out.
    private func values(of group: [ReferenceObject]) -> [String: Value] {
        var values: [String: Value] = [:]
        for column in plan.columns {
            let value = value(of: column, group)
            if !value.isNull { values[column.name] = value }
        }
        return values
    }

    private func value(of column: FetchColumn, _ group: [ReferenceObject]) -> Value {
        if let (function, keyPath) = aggregate(column) { return compute(function, keyPath, of: group) }
        guard let first = group.first else { return .null }
        switch column {
        case .keyPath(let keyPath): return value(keyPath, of: first)
        case .expression(_, let expression, _):
            return CompiledExpression(expressionTree(of: expression)).evaluate(.object(first))
        }
    }

    private func value(_ keyPath: String, of object: ReferenceObject) -> Value {
        let value = Value.object(object).value(forKeyPath: keyPath.split(separator: ".").map(String.init))
        // Objects come as their IDs.
        guard case .object(let reference) = value, let object = reference.operand as? ReferenceObject else {
            return value
        }
        return .object(ArgumentObject(object.identifier))
    }

    /// Computes of the values that are there: of none, there is nothing but their count and their sum.
    private func compute(_ function: BuiltInFunction, _ keyPath: String, of group: [ReferenceObject]) -> Value {
        let values = group.map { value(keyPath, of: $0) }.filter { !$0.isNull }
        if values.isEmpty, function == .sum { return .integer(0) }
        if values.isEmpty, function != .count { return .null }
        return function.apply([.collection(values)])
    }

    private func aggregate(_ column: FetchColumn) -> (BuiltInFunction, String)? {
        guard case .expression(_, let expression, _) = column else { return nil }
        return aggregate(expressionTree(of: expression))
    }

    private func aggregate(_ tree: ExpressionTree) -> (BuiltInFunction, String)? {
        guard case .function(let function, let arguments) = tree, function.takesCollection,
            case .keyPath(let keys)? = arguments.first
        else { return nil }
        return (function, keys.joined(separator: "."))
    }

    /// A condition on a group computes of it, or names a column as a variable.
    private func satisfies(_ having: PredicateTree, _ group: [ReferenceObject]) -> Bool {
        let computed = having.mapExpressions { expression in
            if let (function, keyPath) = aggregate(expression) {
                return .constant(compute(function, keyPath, of: group))
            }
            guard case .variable(let name) = expression, let column = plan.columns.first(where: { $0.name == name })
            else { return expression }
            return .constant(value(of: column, group))
        }
        return CompiledPredicate(computed).evaluate(group.first.map { .object($0) } ?? .null)
    }
}
