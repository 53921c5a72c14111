import StoreSession

/// The part of a filter that can be decided from one row. It may say that the filter can hold although it does not,
/// but never the reverse. Pure.
enum RowCondition: Sendable {
    /// Anything that is not analysed.
    case unknown
    case all([RowCondition])
    case any([RowCondition])
    /// A number, or a date in seconds since 2001.
    case number(slot: Int, Comparison, Double)
    case text(slot: Int, String)
    case uuid(slot: Int, UUID)

    enum Comparison: Sendable { case equal, atMost, atLeast }

    /// - Parameters:
    ///   - predicate: the filter; nil for none, which selects every row.
    ///   - layout: the entity whose rows are checked.
    init(_ predicate: NSPredicate?, _ layout: EntityLayout) {
        switch predicate {
        case let compound as NSCompoundPredicate:
            let parts = compound.subpredicates.map { RowCondition($0, layout) }
            switch compound.compoundPredicateType {
            case .and: self = .all(parts)
            case .or: self = .any(parts)
            default: self = .unknown
            }
        case let comparison as NSComparisonPredicate: self = RowCondition(comparison, layout) ?? .unknown
        default: self = .unknown
        }
    }

    /// A comparison of an attribute with a constant; nil for any other comparison.
    private init?(_ comparison: NSComparisonPredicate, _ layout: EntityLayout) {
        guard comparison.comparisonPredicateModifier == .direct, comparison.options.isEmpty,
            comparison.leftExpression.expressionType == .keyPath,
            comparison.rightExpression.expressionType == .constantValue,
            let slot = layout.slotIndex(forName: comparison.leftExpression.keyPath)
        else { return nil }
        let constant = comparison.rightExpression.constantValue
        let isEquality = comparison.predicateOperatorType == .equalTo
        switch constant {
        case let text as String where isEquality: self = .text(slot: slot, text)
        case let uuid as UUID where isEquality: self = .uuid(slot: slot, uuid)
        case let date as Date:
            guard let comparison = Comparison(comparison.predicateOperatorType) else { return nil }
            self = .number(slot: slot, comparison, date.timeIntervalSinceReferenceDate)
        case let number as NSNumber:
            guard let comparison = Comparison(comparison.predicateOperatorType) else { return nil }
            self = .number(slot: slot, comparison, number.nearestDouble)
        default: return nil
        }
    }

    /// Whether the filter may select a row.
    ///
    /// - Parameter values: the row's values, by slot.
    /// - Returns: false only if it certainly does not.
    func mayHold(_ values: ContiguousArray<StoredValue>) -> Bool {
        switch self {
        case .unknown: return true
        case .all(let parts): return parts.allSatisfy { $0.mayHold(values) }
        case .any(let parts): return parts.contains { $0.mayHold(values) }
        case .number(let slot, let comparison, let constant):
            switch values[slot] {
            case .integer(let number): return comparison.mayHold(Double(number), constant)
            case .double(let number), .date(let number): return comparison.mayHold(number, constant)
            default: return true
            }
        case .text(let slot, let constant):
            guard case .string(let text) = values[slot] else { return true }
            return text == constant
        case .uuid(let slot, let constant):
            guard case .uuid(let uuid) = values[slot] else { return true }
            return uuid == constant
        }
    }
}

extension RowCondition.Comparison {
    // Whole numbers are rounded to `Double` here, so that different ones may be equal.
    fileprivate init?(_ type: NSComparisonPredicate.Operator) {
        switch type {
        case .equalTo: self = .equal
        case .lessThan, .lessThanOrEqualTo: self = .atMost
        case .greaterThan, .greaterThanOrEqualTo: self = .atLeast
        default: return nil
        }
    }

    fileprivate func mayHold(_ value: Double, _ constant: Double) -> Bool {
        switch self {
        case .equal: value == constant
        case .atMost: value <= constant
        case .atLeast: value >= constant
        }
    }
}
