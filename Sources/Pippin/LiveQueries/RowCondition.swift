#if !canImport(ObjectiveC)
    import CoreData

    /// What a filter asks of one row, as far as that is plain. It says that the filter may hold too often, and never that it does not where
    /// it does. Pure.
    indirect enum RowCondition: Sendable {
        /// Whatever is not looked into.
        case unknown
        case all([RowCondition])
        case any([RowCondition])
        /// A number, or a date in seconds since 2001.
        case number(slot: Int, Comparison, Double)
        case text(slot: Int, String)
        case uuid(slot: Int, UUID)

        enum Comparison: Sendable { case equal, atMost, atLeast }

        /// - Parameters:
        ///   - predicate: the filter; nil for none, which holds of every row.
        ///   - layout: the entity whose rows are looked at.
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

        /// A comparison of an attribute with a constant; nil for every other one.
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
                self = .number(slot: slot, comparison, number.doubleValue)
            default: return nil
            }
        }

        /// Whether the filter may hold of a row.
        ///
        /// - Parameter values: the row's values, by slot.
        /// - Returns: false only where it certainly does not.
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
        // Whole numbers are rounded here: those that are told apart by less than that may be equal.
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
#endif
