extension ComparisonTree {
    /// Why a constant is not allowed as an operand, such as a number on the right of `BEGINSWITH`; nil if the operands
    /// are valid.
    ///
    /// - Parameter constant: the value of an expression that is a constant; nil for all others.
    /// - Returns: the reason; nil if there is none.
    package func operandObstacle(constantOf constant: (ExpressionTree) -> Value?) -> String? {
        switch comparison {
        case .between:
            if case .aggregate(let bounds) = right, bounds.count != 2 {
                return twoBounds("a collection of \(bounds.count)")
            }
            guard let value = constant(right), value.elements?.count != 2 else { return nil }
            return twoBounds(value.kindDescription)
        case .in:
            guard let value = constant(right), value.isSingle else { return nil }
            return "IN takes a collection or a text on its right, not \(value.kindDescription)"
        case .contains:
            guard let value = constant(left), value.isSingle else { return nil }
            return "CONTAINS takes a collection or a text on its left, not \(value.kindDescription)"
        case .beginsWith, .endsWith, .like, .matches:
            for value in [modifier == .direct ? constant(left) : nil, constant(right)].compactMap({ $0 })
            where value.isSingle || value.elements != nil {
                return "\(comparison.format) compares texts, not \(value.kindDescription)"
            }
            return nil
        default: return nil
        }
    }

    /// `ANY books CONTAINS %@` with an object asks what it asks without `ANY`, whether the object is one of the books:
    /// an object itself contains nothing.
    package func findingObject(_ isObject: (ExpressionTree) -> Bool) -> ComparisonTree {
        guard modifier == .any, comparison == .contains, isObject(right) else { return self }
        return ComparisonTree(left, .equalTo, right, modifier: .any)
    }

    private func twoBounds(_ found: String) -> String {
        "BETWEEN takes two bounds on its right, such as {1, 10}, not \(found)"
    }

    /// Refuses a collection where the comparison takes one value; Core Data raises an exception for it. A fetch throws,
    /// since a transformable attribute shows only here that it holds a collection; `evaluate(with:)` stops the program.
    func demandOneValue(_ value: Value, of side: ExpressionTree) {
        guard case .collection = value else { return }
        let reason =
            "\(format): \(side.format) gives a collection, where \(comparison.format) compares one value. Put ANY, ALL or NONE "
            + "before it, or compute one value with @count, @sum, @min, @max or @avg"
        guard EvaluationFailure.isThrown else { programmerError(reason + ".") }
        EvaluationFailure.note(reason)
    }

    /// Whether each side must be one value rather than a collection.
    var comparesOneValue: Bool {
        switch comparison {
        case .equalTo, .notEqualTo, .in, .contains: false
        default: modifier == .direct
        }
    }
}

extension Value {
    /// Whether the value is a number, a date or similar: not a text, a collection, or an object, which may be one.
    fileprivate var isSingle: Bool {
        switch self {
        case .integer, .double, .decimal, .date, .data, .uuid, .url: true
        case .null, .string, .collection, .object: false
        }
    }
}
