import CoreData
import PredicateFormat
import StoreEngine
import StoreReading

/// Finds attributes whose rules no value fulfils, and default values that the attribute's own rules refuse.
enum BoundsTrial {
    /// - Parameter entity: the entity whose own attributes are looked at; inherited ones are their owner's.
    /// - Returns: a sentence for each, without its final period.
    static func warnings(of entity: EntityLayout) -> [String] {
        entity.description.attributesByName.values
            .filter { entity.superentity?.propertyByName[$0.name] == nil }
            .sorted { $0.name < $1.name }
            .flatMap { attribute -> [String] in
                let trees = attribute.validationPredicates.compactMap { try? predicateTree(of: $0) }
                let reasons = contradiction(in: trees).map { [$0] } ?? refusal(of: attribute, trees)
                return reasons.map {
                    "\(TextTools.inOneLine(entity.name)).\(TextTools.inOneLine(attribute.name)): \($0)"
                }
            }
    }

    /// A minimum above the maximum.
    private static func contradiction(in trees: [PredicateTree]) -> String? {
        func bounds(_ comparison: ComparisonOperator) -> [(subject: ExpressionTree, bound: Value)] {
            trees.compactMap { tree in
                guard case .comparison(let found) = tree, found.comparison == comparison,
                    case .constant(let bound) = found.right
                else { return nil }
                return (found.left, bound)
            }
        }
        for (subject, minimum) in bounds(.greaterThanOrEqualTo) {
            for (other, maximum) in bounds(.lessThanOrEqualTo) where other == subject {
                guard let least = number(minimum), let greatest = number(maximum), least > greatest else { continue }
                return "the minimum, \(text(minimum)), is more than the maximum, \(text(maximum)), "
                    + "so that no value is valid"
            }
        }
        return nil
    }

    private static func refusal(of attribute: NSAttributeDescription, _ trees: [PredicateTree]) -> [String] {
        guard let value = attribute.defaultValue else { return [] }
        let given = Value(value)
        return trees.compactMap { tree in
            guard case .comparison(let comparison) = tree, case .constant(let bound) = comparison.right,
                let limit = number(bound)
            else { return nil }
            let measured: Double?
            var subject = "the default value, \(text(given)),"
            switch comparison.left {
            case .evaluatedObject: measured = number(given)
            case .keyPath(["length"]):
                measured = (value as? String).map { Double($0.utf16.count) }
                subject = "the length of the default value, \(text(given)),"
            default: measured = nil
            }
            guard let measured else { return nil }
            switch comparison.comparison {
            case .greaterThanOrEqualTo where measured < limit:
                return "\(subject) is below the minimum, \(text(bound))"
            case .lessThanOrEqualTo where measured > limit:
                return "\(subject) is above the maximum, \(text(bound))"
            default: return nil
            }
        }
    }

    private static func number(_ value: Value) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .double(let number): number
        case .decimal(let number): number.doubleValue
        case .date(let date): date.timeIntervalSinceReferenceDate
        default: nil
        }
    }

    private static func text(_ value: Value) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let number): "\(number)"
        case .date(let date): TextTools.iso8601(date.timeIntervalSinceReferenceDate)
        case .string(let text): "“\(TextTools.inOneLine(text))”"
        default: "another one"
        }
    }
}
