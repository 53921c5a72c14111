import CoreDataModel

extension PredicateSQL {
    /// A function of expressions as SQL.
    func operand(
        _ function: BuiltInFunction, _ arguments: [ExpressionTree], in scope: SQLScope
    ) throws -> SQLOperand {
        switch function {
        case .add: return try infix("+", function, arguments, in: scope)
        case .subtract: return try infix("-", function, arguments, in: scope)
        case .multiply: return try infix("*", function, arguments, in: scope)
        case .divide: return try infix("/", function, arguments, in: scope)
        case .modulus: return try infix("%", function, arguments, in: scope)
        case .bitwiseAnd: return try infix("&", function, arguments, in: scope)
        case .bitwiseOr: return try infix("|", function, arguments, in: scope)
        case .leftShift: return try infix("<<", function, arguments, in: scope)
        case .rightShift: return try infix(">>", function, arguments, in: scope)
        case .negate: return try call("-", function, arguments, in: scope)
        case .onesComplement: return try call("~", function, arguments, in: scope)
        case .absolute: return try call("abs", function, arguments, in: scope)
        case .length: return try call("length", function, arguments, in: scope)
        case .uppercase: return try call(.uppercase, function, arguments, in: scope)
        case .lowercase: return try call(.lowercase, function, arguments, in: scope)
        case .canonical: return try call(.canonical, function, arguments, in: scope)
        case .now:
            return SQLOperand(fragment: .call(.now), storage: .date, canBeNull: false)
        case .noIndex:
            let operand = try operand(argument(arguments), in: scope)
            var result = SQLOperand(
                fragment: SQLFragment(.unindexed(operand.fragment)), storage: operand.storage, root: operand.root,
                isWhole: operand.isWhole)
            (result.constantKind, result.isMixed) = (operand.constantKind, operand.isMixed)
            return result
        case .search: return try search(arguments, in: scope)
        case .count where arguments.first?.isListed == true: return try count(ofListed: arguments[0], in: scope)
        case .count, .sum, .minimum, .maximum, .average:
            return try aggregate(function, arguments, in: scope)
        default: throw SQLError.unsupported("the function \(function.rawValue)")
        }
    }

    /// `PippinSearch(?, t0.ZTITLE, t0.ZTEXT)`
    private func search(_ arguments: [ExpressionTree], in scope: SQLScope) throws -> SQLOperand {
        guard arguments.count == 2 else {
            throw SQLError.unsupported("a search with \(arguments.count) arguments, where it takes texts and a query")
        }
        var texts = [arguments[0]]
        if case .aggregate(let elements) = arguments[0] { texts = elements }
        let operands = try ([arguments[1]] + texts).map { try openOperand($0, in: scope).fragment }
        return SQLOperand(fragment: SQLFragment(.call(.search, operands)), storage: .integer, canBeNull: false)
    }

    private func argument(_ arguments: [ExpressionTree]) throws -> ExpressionTree {
        guard let first = arguments.first, arguments.count == 1 else {
            throw SQLError.unsupported("a function with \(arguments.count) arguments, where it takes one")
        }
        return first
    }

    private func infix(
        _ sign: SQLFragment, _ function: BuiltInFunction, _ arguments: [ExpressionTree], in scope: SQLScope
    ) throws -> SQLOperand {
        guard arguments.count == 2 else {
            throw SQLError.unsupported(
                "the function \(function.rawValue) with \(arguments.count) arguments, where it takes two")
        }
        // A chain of one operator needs no inner parentheses, of which SQLite allows a hundred.
        var chain = [arguments[1]]
        var first = arguments[0]
        while case .function(function, let inner) = first, inner.count == 2 {
            chain.append(inner[1])
            first = inner[0]
        }
        let left = try operand(first, in: scope)
        try check(first, left, in: function)
        var text = dividable(left, first, in: function)
        var result = storage(of: first, left)
        var isWhole = left.isWhole
        for part in chain.reversed() {
            let right = try operand(part, in: scope)
            try check(part, right, in: function)
            text = text + " \(sign) " + dividable(right, part, in: function)
            let next = storage(of: part, right)
            // Not all databases truncate fractions before they divide, shift by any number of 64 bits, or keep dates as
            // numbers.
            let isExact = function == .modulus ? left.isWhole == true && right.isWhole == true : !function.shifts
            if !isExact || result == .date || next == .date { text = SQLFragment(.mixingNumbers(text)) }
            if function.cannotCombine(result, next) { throw Self.unfit(part, right, in: function) }
            result = function.result(result, next)
            isWhole =
                isWhole == true && right.isWhole == true
                ? true : (isWhole == false || right.isWhole == false) ? false : nil
        }
        return SQLOperand(
            fragment: text.inParentheses, storage: result, isWhole: function.isOfBits ? true : isWhole)
    }

    /// An operand of a division or another operator. SQLite keeps a whole decimal as an integer, and the difference of
    /// two dates, and would divide it as one.
    private func dividable(
        _ operand: SQLOperand, _ tree: ExpressionTree, in function: BuiltInFunction
    ) -> SQLFragment {
        guard function == .divide, !operand.hasRealFractions else { return operand.fragment }
        if case .double? = constant(tree) { return operand.fragment }
        switch operand.storage {
        case .decimal, .double, .float: return operand.asReal
        default: return operand.isWhole == false ? operand.asReal : operand.fragment
        }
    }

    /// What an operand holds. A constant is not tied to a column, but a date remains one.
    private func storage(of tree: ExpressionTree, _ operand: SQLOperand) -> ColumnStorage? {
        if case .date? = constant(tree) { return .date }
        return operand.storage
    }

    private func call(
        _ name: SQLFunction, _ function: BuiltInFunction, _ arguments: [ExpressionTree], in scope: SQLScope
    ) throws -> SQLOperand {
        let argument = try argument(arguments)
        let operand = try openOperand(argument, in: scope)
        try check(argument, operand, in: function)
        return SQLOperand(fragment: .call(name, operand.fragment), storage: .string)
    }

    private func call(
        _ name: SQLFragment, _ function: BuiltInFunction, _ arguments: [ExpressionTree], in scope: SQLScope
    ) throws -> SQLOperand {
        let argument = try argument(arguments)
        let operand = try openOperand(argument, in: scope)
        try check(argument, operand, in: function)
        let isInteger = function == .length || function == .onesComplement
        return SQLOperand(
            fragment: "\(name)(\(operand.fragment))", storage: isInteger ? .integer : operand.storage,
            isWhole: isInteger ? nil : operand.isWhole)
    }

    /// The operand of a function that computes something from its content, so that it must not be opaque.
    private func openOperand(_ tree: ExpressionTree, in scope: SQLScope) throws -> SQLOperand {
        let operand = try operand(tree, in: scope)
        try Self.checkIsNotTransformable(operand, tree)
        return operand
    }

    /// `count:`, `sum:` and similar functions: over a to-many key path in a predicate, over the rows of a group in a
    /// column.
    private func aggregate(
        _ function: BuiltInFunction, _ arguments: [ExpressionTree], in scope: SQLScope
    ) throws -> SQLOperand {
        let (computation, name): (CollectionOperator, SQLFragment) =
            switch function {
            case .count: (.count, "COUNT")
            case .sum: (.sum, "")
            case .minimum: (.minimum, "MIN")
            case .maximum: (.maximum, "MAX")
            default: (.average, "")
            }
        let argument = try argument(arguments)
        if let (toMany, origin) = relationship(argument, in: scope) {
            return try aggregate(
                computation, of: try destinationScope(of: toMany, in: origin), keys: toMany.rest)
        }
        if !aggregatesGroups, argument.usesVariable {
            throw SQLError.unsupported("\(function.rawValue) of one value of a subquery's variable")
        }
        let inner = aggregatesGroups ? scope : scope.inner(scope.mapping)
        // A group counts its archives; for one object, the archive is a collection over which the function would have
        // to be computed.
        let value = try aggregatesGroups ? operand(argument, in: inner) : openOperand(argument, in: inner)
        if function == .sum || function == .average { try check(argument, value, in: function) }
        let isPlain = function == .count || function == .average
        let storage = isPlain ? (function == .count ? .integer : .double) : value.storage
        let isWhole = isPlain ? nil : value.isWhole
        let computed: SQLFragment =
            switch computation {
            case .average: .average(of: value.fragment, value.storage)
            case .sum: .call(.sum(of: value.storage, isWhole: value.isWhole == true), value.fragment)
            case .minimum, .maximum:
                switch value.storage {
                case .uuid, .boolean:
                    value.storage.map {
                        .call(.extreme(isGreatest: computation == .maximum, of: $0), value.fragment)
                    } ?? "\(name)(\(value.fragment))"
                default: "\(name)(\(value.fragment))"
                }
            default: "\(name)(\(value.fragment))"
            }
        if aggregatesGroups {
            // The sum of an empty set is 0, like Core Data's `total`; its average, minimum and maximum are nil.
            guard computation == .sum else {
                return SQLOperand(fragment: computed, storage: storage, isWhole: isWhole)
            }
            return SQLOperand(
                fragment: .call(.ifNull, computed, "0"), storage: storage, canBeNull: false, isWhole: isWhole)
        }
        // `price == max(price)`: over all objects of the entity.
        var text: SQLFragment = "SELECT \(computed) FROM \(inner.from)"
        if let filter = inner.mapping.filter(alias: inner.alias) { text = text + " WHERE " + filter }
        // If no object has a value, none equals the maximum.
        return SQLOperand(fragment: .select(text), storage: storage, canBeNull: false, isWhole: isWhole)
    }
}

extension SQLFragment {
    /// The average of a group. Not all databases keep dates as numbers.
    static func average(of value: SQLFragment, _ storage: ColumnStorage?) -> SQLFragment {
        let average = SQLFragment.call(.average, value)
        return storage == .date ? SQLFragment(.mixingNumbers(average)) : average
    }
}

extension ExpressionTree {
    /// Whether it reads the variable of a subquery.
    fileprivate var usesVariable: Bool {
        var found = false
        forEach { if case .variable = $0 { found = true } }
        return found
    }
}

extension BuiltInFunction {
    fileprivate var shifts: Bool { self == .leftShift || self == .rightShift }

    /// Whether it computes with the bits of whole numbers.
    fileprivate var isOfBits: Bool { shifts || self == .bitwiseAnd || self == .bitwiseOr }
}
