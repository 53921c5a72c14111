import CoreDataModel

extension PredicateSQL {
    /// Checks that a constant is of the type of the column on the other side of a comparison.
    ///
    /// - Throws: an `NSError` that names the column's key path and the constant.
    func check(_ value: Value, against other: SQLOperand?) throws {
        guard let other, let name = other.name, let storage = other.storage else { return }
        if storage.isTransformable, value.isPlain {
            // An archive never equals it, whatever it contains.
            throw SQLError.unsupported(
                "a comparison of “\(name)”, which is transformable, with \(value.kindDescription): the store has it as an archive"
            )
        }
        guard !storage.canBeCompared(with: value) else { return }
        throw SQLError.unfit(
            "“\(name)” holds \(Self.content(of: other)), and is compared with \(value.kindDescription)")
    }

    /// What an operand's column holds, for error messages.
    static func content(of operand: SQLOperand) -> String {
        operand.root.map { "objects of “\($0.name)”" } ?? operand.storage?.valuesDescription
            ?? (operand.kind == .number ? "numbers" : "other values")
    }
}

extension ColumnStorage {
    /// Whether a comparison with a value makes sense. A text that spells a number counts as a number, as SQLite
    /// converts it.
    fileprivate func canBeCompared(with value: Value) -> Bool {
        switch (self, value) {
        case (_, .null), (.transformable, _), (.data, .data), (.uuid, .uuid), (.toOne, .object), (.url, .url),
            (.url, .string), (.string, .string), (.string, .url):
            true
        case (_, .string(let text)) where isNumber: text.spelledNumber != nil
        case (.integer, _), (.boolean, _), (.double, _), (.float, _), (.decimal, _), (.string, _):
            value.doubleValue != nil
        case (.date, .date): true
        // Seconds since 2001, as the column stores them.
        case (.date, _): value.doubleValue != nil
        case (.data, _), (.uuid, _), (.toOne, _), (.url, _): false
        }
    }

    /// The content of the column, for error messages.
    fileprivate var valuesDescription: String {
        switch self {
        case .integer: "whole numbers"
        case .boolean: "Booleans"
        case .double, .float, .decimal: "numbers"
        case .date: "dates"
        case .string: "texts"
        case .url: "URLs"
        case .uuid: "UUIDs"
        case .data: "data"
        case .transformable: "transformable values"
        case .toOne: "objects"
        }
    }
}

extension Value {
    /// Whether it is a single value, and not bytes, which could be an archive.
    fileprivate var isPlain: Bool {
        switch self {
        case .integer, .double, .decimal, .string, .date, .uuid, .url: true
        case .null, .data, .object, .collection: false
        }
    }
}

// What constants are.
extension PredicateSQL {
    /// The value of a constant or an argument.
    func constant(_ tree: ExpressionTree) -> Value? {
        switch tree {
        case .constant(let value): return value
        case .argument(let index): return arguments.indices.contains(index) ? arguments[index] : nil
        case .element(of: .argument(let index), at: .at(.constant(.integer(let position)))):
            guard arguments.indices.contains(index), let elements = arguments[index].elements else { return nil }
            return elements.indices.contains(Int(position)) ? elements[Int(position)] : .null
        default: return nil
        }
    }

    func isConstant(_ tree: ExpressionTree) -> Bool { constant(tree) != nil }

    /// The object that a constant or an argument is; nil for everything else.
    func object(_ tree: ExpressionTree) -> Value? {
        guard let value = constant(tree), case .object = value else { return nil }
        return value
    }

    func isNull(_ tree: ExpressionTree) -> Bool {
        if case .null? = constant(tree) { return true }
        return false
    }

    func isNotANumber(_ tree: ExpressionTree) -> Bool {
        if case .double(let number)? = constant(tree) { return number.isNaN }
        return false
    }

    func isString(_ tree: ExpressionTree) -> Bool {
        if case .string? = constant(tree) { return true }
        return false
    }

    /// The elements of a collection that is spelled out in a predicate, or given as an argument.
    func elements(of tree: ExpressionTree) throws -> [ExpressionTree] {
        switch tree {
        case .aggregate(let elements): return elements
        case .constant(.collection(let values)): return values.map { .constant($0) }
        case .argument:
            guard case .collection(let values)? = constant(tree) else { break }
            // Looked up when the statement runs, so that the text can be reused for other values.
            return values.indices.map { .element(of: tree, at: .at(.constant(.integer(Int64($0))))) }
        default: break
        }
        throw SQLError.unsupported("a collection that is neither a constant nor a to-many relationship")
    }
}

extension ExpressionTree {
    /// Whether it is a value of the predicate, or an argument that may not be there yet.
    var isGiven: Bool {
        switch self {
        case .constant, .argument, .element(of: .argument, _): true
        default: false
        }
    }
}

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
