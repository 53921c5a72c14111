import CoreDataModel

// In memory, a function of something that it cannot compute with is nil. SQLite computes with any value, and takes a
// text for the number that it begins with.
extension PredicateSQL {
    /// Checks that a function can compute with an operand.
    ///
    /// - Throws: an `NSError` that names the operand.
    func check(_ tree: ExpressionTree, _ operand: SQLOperand, in function: BuiltInFunction) throws {
        if let value = constant(tree) {
            guard function.computes(with: value) else {
                throw SQLError.unfit(
                    "\(function.rawValue) computes with \(function.operands), not with \(value.kindDescription)")
            }
        } else if operand.isMixed {
            throw SQLError.unsupported(
                "\(function.rawValue) of “\(tree.format)”, which may be of one kind or another")
        } else if let storage = operand.storage {
            if !function.computes(with: storage) { throw Self.unfit(tree, operand, in: function) }
        } else if let kind = operand.kind, !function.computes(with: kind) {
            throw Self.unfit(tree, operand, in: function)
        }
    }

    /// The error for an operand that a function cannot compute with.
    static func unfit(_ tree: ExpressionTree, _ operand: SQLOperand, in function: BuiltInFunction) -> any Error {
        SQLError.unfit(
            "“\(operand.name ?? tree.format)” holds \(content(of: operand)), and \(function.rawValue) computes with \(function.operands)"
        )
    }
}

extension BuiltInFunction {
    /// Whether it cannot compute with two operands, though with each beside a number: the sum of two dates, or a number
    /// less a date.
    func cannotCombine(_ left: ColumnStorage?, _ right: ColumnStorage?) -> Bool {
        right == .date && (self == .subtract ? left != .date : left == .date)
    }

    /// The storage of what an operator computes of two operands. A date and seconds give a date, two dates give
    /// seconds.
    func result(_ left: ColumnStorage?, _ right: ColumnStorage?) -> ColumnStorage? {
        switch (self, left, right) {
        case (_, .date, .date): .double
        case (_, .date, _), (_, _, .date): .date
        case (.bitwiseAnd, _, _), (.bitwiseOr, _, _), (.leftShift, _, _), (.rightShift, _, _): .integer
        case (_, nil, _): right
        case (_, _, nil): left
        case (_, .double, _), (_, .float, _), (_, _, .double), (_, _, .float): .double
        case (_, .decimal, _), (_, _, .decimal): .decimal
        default: left
        }
    }

    private var takesTexts: Bool {
        switch self {
        case .uppercase, .lowercase, .canonical, .length: true
        default: false
        }
    }

    /// What it computes with, for error messages.
    fileprivate var operands: String { takesTexts ? "texts" : "numbers" }

    fileprivate func computes(with storage: ColumnStorage) -> Bool {
        switch storage {
        case .integer, .boolean, .double, .float, .decimal: !takesTexts
        case .date: self == .add || self == .subtract || self == .sum || self == .average
        case .string, .url: takesTexts
        case .uuid, .data, .transformable, .toOne: false
        }
    }

    fileprivate func computes(with kind: ValueKind) -> Bool {
        switch kind {
        case .number: !takesTexts
        case .date: computes(with: .date as ColumnStorage)
        case .text: takesTexts
        case .uuid, .data, .object, .archive: false
        }
    }

    fileprivate func computes(with value: Value) -> Bool {
        switch value {
        case .null: true
        case .integer, .double, .decimal: computes(with: .double as ColumnStorage)
        case .date: computes(with: .date as ColumnStorage)
        case .string, .url: takesTexts
        case .uuid, .data, .object, .collection: false
        }
    }
}
