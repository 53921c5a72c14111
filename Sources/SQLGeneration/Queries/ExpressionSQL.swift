import CoreDataModel
import StoreEngine

extension PredicateSQL {
    /// An expression as SQL.
    ///
    /// - Parameters:
    ///   - tree: the expression.
    ///   - other: the other side of a comparison, whose column determines how a constant is written.
    ///   - scope: the tables that key paths start at.
    /// - Returns: the operand.
    /// - Throws: an `NSError` that names what SQL cannot express.
    func operand(
        _ tree: ExpressionTree, comparedWith other: SQLOperand? = nil, in scope: SQLScope
    ) throws -> SQLOperand {
        try scope.names.length.count()
        switch tree {
        case .constant(let value):
            try check(value, against: other)
            let binding = SQLBinding.constant(value, conversion(value, other))
            // A value that no column can hold is refused here, together with the rest of the predicate.
            _ = try binding.value(BindingContext())
            return given(binding, value, other, isWhole: value.isWhole)
        case .argument(let index):
            let value = constant(tree)
            if let value { try check(value, against: other) }
            return given(.argument(index, conversion(value, other)), value, other, isWhole: value?.isWhole)
        case .element(of: .argument(let index), at: .at(.constant(.integer(let position)))):
            let value = constant(tree)
            if let value { try check(value, against: other) }
            return given(.element(of: index, at: Int(position), conversion(value, other)), value, other)
        case .evaluatedObject: return key(of: scope.mapping, alias: scope.alias)
        case .keyPath(let path):
            if let overAll = CollectionOperator.functionOverAll(path) { return try operand(overAll, in: scope) }
            return try operand(path, in: scope)
        case .path(from: .variable(let name), let path):
            guard let variable = scope.variables[name] else { throw SQLError.unsupported("the variable $\(name)") }
            return try operand(path, in: variable)
        case .path(from: .evaluatedObject, let path): return try operand(path, in: scope)
        case .path(from: .subquery(let collection, let variable, let predicate), let path):
            return try computed(path, ofSubqueryOver: collection, variable: variable, predicate, in: scope)
        case .element(of: .keyPath(let path), at: .size): return try operand(path + ["@count"], in: scope)
        case .element(of: .path(from: let origin, let path), at: .size):
            return try operand(.path(from: origin, path + ["@count"]), in: scope)
        case .variable(let name):
            guard let variable = scope.variables[name] else {
                if let value = scope.names.listed[name] { return value }
                throw SQLError.unsupported("the variable $\(name)")
            }
            return key(of: variable.mapping, alias: variable.alias)
        case .function(let function, let arguments): return try operand(function, arguments, in: scope)
        case .conditional(let test, let first, let second):
            let condition = try condition(test, in: scope).fragment
            return try conditional(condition, (first, second), try branches(first, second, in: scope))
        case .cast(let expression, let type): return try cast(expression, to: type, in: scope)
        case .fetch(let request, _, let countOnly):
            return try operand(fetching: request, countOnly: countOnly, in: scope)
        case .path, .element, .call, .aggregate, .listed, .subquery, .set, .anyKey, .block, .assignment:
            throw SQLError.unsupported(tree.sqlDescription)
        }
    }

    /// One of two values. A number's sort is the chosen value's own.
    private func conditional(
        _ condition: SQLFragment, _ trees: (ExpressionTree, ExpressionTree), _ values: (SQLOperand, SQLOperand)
    ) throws -> SQLOperand {
        var (yes, no) = values
        let mixesNumbers = yes.mixesNumbers(with: no)
        if mixesNumbers {
            if yes.isWhole == false { yes.fragment = yes.asReal }
            if no.isWhole == false { no.fragment = no.asReal }
        }
        var text = "CASE WHEN " + condition + " THEN " + yes.fragment + " ELSE " + no.fragment + " END"
        if mixesNumbers { text = SQLFragment(.mixingNumbers(text)) }
        let typical = isNull(trees.0) ? no : yes
        let kind = isNull(trees.1) || yes.kind == no.kind ? typical.kind : isNull(trees.0) ? no.kind : nil
        if kind == nil, yes.root != nil || no.root != nil {
            throw SQLError.unsupported("TERNARY with an object and a value of another kind")
        }
        // Without a column's text, the order would be the database's.
        if kind == .text, yes.name == nil, no.name == nil { text = .call(.orderedByBytes, text) }
        var result = SQLOperand(
            fragment: text, storage: kind == nil ? nil : typical.storage, root: yes.root ?? no.root,
            isWhole: mixesNumbers ? nil : typical.isWhole)
        result.constantKind = kind
        result.isMixed = kind == nil
        result.hasRealFractions = mixesNumbers || yes.hasRealFractions && no.hasRealFractions
        return result
    }

    /// A value of the predicate.
    private func given(
        _ binding: SQLBinding, _ value: Value?, _ other: SQLOperand?, isWhole: Bool? = nil
    ) -> SQLOperand {
        var operand = SQLOperand(fragment: .parameter(binding), canBeNull: false, isWhole: isWhole)
        operand.constantKind = value.flatMap(ValueKind.init)
        // A text that spells a number is bound as one.
        if case .string? = value, other?.convertsTexts ?? false { operand.constantKind = .number }
        return operand
    }

    /// The two values of a condition. If one of them is an object of an entity, the other one is, too.
    private func branches(
        _ first: ExpressionTree, _ second: ExpressionTree, in scope: SQLScope
    ) throws -> (SQLOperand, SQLOperand) {
        var (yes, no) = (try operand(first, in: scope), try operand(second, in: scope))
        if isString(first), yes.storage == nil { yes.storage = .string }
        if isString(second), no.storage == nil { no.storage = .string }
        if yes.root == nil, no.root != nil, isConstant(first) {
            return (try operand(first, comparedWith: no, in: scope), no)
        }
        if yes.root != nil, no.root == nil, isConstant(second) {
            return (yes, try operand(second, comparedWith: yes, in: scope))
        }
        if let root = yes.root, let other = no.root, yes.isNeverEqual(to: no) {
            throw SQLError.unsupported("TERNARY with objects of “\(root.name)” and “\(other.name)”")
        }
        return (yes, no)
    }

    /// `CAST(added, "NSNumber")`: a column that already holds the number. Other casts would need conversions that SQL
    /// does differently.
    private func cast(
        _ expression: ExpressionTree, to type: ExpressionTree, in scope: SQLScope
    ) throws -> SQLOperand {
        guard case .string(let name)? = constant(type), let target = Value.castTypes[name] else {
            throw SQLError.unsupported("CAST to a type that is not spelled out")
        }
        // An argument may name another type the next time.
        if case .constant = type {} else { scope.names.isReusable = false }
        var value = try operand(expression, in: scope)
        switch (value.storage, target) {
        case (.date, .number): value.storage = .double
        case (.integer, .date), (.double, .date), (.float, .date): value.storage = .date
        case (.date, .date), (.string, .string), (.uuid, .uuid), (.url, .url), (.decimal, .decimal), (.data, .data),
            (.integer, .number), (.double, .number), (.float, .number), (.decimal, .number):
            break
        case (.integer, .decimal), (.double, .decimal), (.float, .decimal): value.storage = .decimal
        default:
            throw SQLError.unsupported("CAST(…, \"\(name)\") of \(expression.sqlDescription)")
        }
        return value
    }

    private func conversion(_ value: Value?, _ other: SQLOperand?) -> BindingConversion {
        if let root = other?.root { return .key(root: root) }
        if let numbers = other?.entities { return .entity(numbers) }
        // Only a column has an affinity, by which SQLite converts a decimal's text.
        if let other, other.storage == .decimal, !other.isColumn { return .column(nil) }
        // Only a column's numbers are compared with a text as the number that it spells.
        if case .string? = value, let other, other.storage?.isNumber ?? false, !other.convertsTexts {
            return .column(nil)
        }
        return .column(other?.storage)
    }

    private func key(of mapping: EntityMapping, alias: String) -> SQLOperand {
        SQLOperand(
            fragment: "\(.key, of: alias)", storage: .toOne, root: mapping.layout.root, canBeNull: false)
    }

    /// A key path that leads to one value.
    private func operand(_ path: [String], in scope: SQLScope) throws -> SQLOperand {
        // An element of a composite attribute may be called `length`.
        if path.count > 1, path.last == "length", (try? scope.resolve(path, schema: schema)) == nil,
            let text = try text(Array(path.dropLast()), in: scope)
        {
            return SQLOperand(fragment: "length(" + text.fragment + ")", storage: .integer)
        }
        if path.count > 1, path.last == CollectionOperator.count.rawValue,
            let count = try count(ofOne: Array(path.dropLast()), in: scope)
        {
            return count
        }
        switch try scope.resolve(path, schema: schema) {
        case .column(let alias, let column):
            var operand = SQLOperand(
                fragment: column.value(of: alias), storage: column.storage, root: column.destination?.root,
                name: path.joined(separator: "."), isColumn: column.siblings.isEmpty)
            if !operand.isColumn { operand.columns = column.values(of: alias, \.name) }
            operand.hasRealFractions = column.storage == .double || column.storage == .float
            return operand
        case .composite:
            throw SQLError.unsupported("the composite attribute “\(path.joined(separator: "."))” as a whole")
        case .entity(let alias):
            return SQLOperand(fragment: "\(.entity, of: alias)", entities: schema.entityNumbers)
        case .object(let alias, let mapping):
            var object = key(of: mapping, alias: alias)
            // A joined table may have no row.
            object.canBeNull = alias != scope.alias
            return object
        case .toMany(let toMany):
            guard let position = toMany.rest.firstIndex(where: { $0.hasPrefix("@") }),
                let computation = CollectionOperator(rawValue: toMany.rest[position])
            else { throw KeyPathError.toMany(path, entity: scope.mapping.layout) }
            let keys = Array(toMany.rest[..<position] + toMany.rest[(position + 1)...])
            return try aggregate(computation, of: try destinationScope(of: toMany, in: scope), keys: keys)
        }
    }

    /// How many objects a to-one relationship has, one or none (`author.@count == 0`); nil for other key paths.
    private func count(ofOne path: [String], in scope: SQLScope) throws -> SQLOperand? {
        guard case .column(let alias, let column) = try scope.resolve(path, schema: schema), column.destination != nil
        else { return nil }
        return SQLOperand(
            fragment: "CASE WHEN \(column.value(of: alias)) IS NULL THEN 0 ELSE 1 END", storage: .integer,
            canBeNull: false)
    }

    /// The text column that a key path leads to, for its length (`name.length`); nil if it leads elsewhere.
    private func text(_ path: [String], in scope: SQLScope) throws -> SQLOperand? {
        guard case .column(_, let column) = try scope.resolve(path, schema: schema), column.storage == .string else {
            return nil
        }
        return try operand(path, in: scope)
    }

    /// `(SELECT COUNT(*) FROM ZPAGE t1 WHERE t1.ZBOOK = t0.Z_PK)`
    func aggregate(
        _ computation: CollectionOperator, of destinations: DestinationScope, keys: [String],
        where condition: SQLCondition? = nil
    ) throws -> SQLOperand {
        let (inner, keys) = try following(keys, from: destinations)
        var value: SQLFragment = "*"
        var storage: ColumnStorage? = .integer
        var root: EntityLayout?
        var isWhole: Bool?
        if !keys.isEmpty {
            let operand = try operand(keys, in: inner.scope)
            value = operand.fragment
            storage = operand.storage
            root = operand.root
            isWhole = operand.isWhole
            if computation == .sum { try check(.keyPath(keys), operand, in: .sum) }
            if computation == .average { try check(.keyPath(keys), operand, in: .average) }
        }
        let name: SQLFragment
        switch computation {
        case .count: name = "COUNT"
        case .sum, .average: name = ""
        case .minimum: name = "MIN"
        case .maximum: name = "MAX"
        default: throw SQLError.unsupported("\(computation.rawValue), which gives a collection")
        }
        guard computation == .count || !keys.isEmpty else {
            throw SQLError.unsupported("\(computation.rawValue) without an attribute")
        }
        var conditions = [inner.link]
        if let condition { conditions.append(condition.part) }
        let all = SQLFragment.joined(conditions, separator: " AND ")
        let computed: SQLFragment =
            switch computation {
            case .average: .average(of: value, storage)
            case .sum: .call(.sum(of: storage, isWhole: isWhole == true), value)
            default: "\(name)(\(value))"
            }
        if computation == .average { storage = .double }
        // A count is a number, also of texts.
        if computation == .count { storage = .integer }
        if computation == .count || computation == .average { isWhole = nil }
        var text = SQLFragment.select("SELECT \(computed) FROM \(inner.from()) WHERE \(all)")
        // The sum of an empty set is 0; its average, minimum and maximum are nil.
        if computation == .sum { text = .call(.ifNull, text, "0") }
        let canBeNull = computation != .count && computation != .sum
        return SQLOperand(
            fragment: text, storage: storage, root: canBeNull ? root : nil, canBeNull: canBeNull, isWhole: isWhole)
    }
}

extension ExpressionTree {
    /// A few words for an error message.
    var sqlDescription: String {
        switch self {
        case .block: return "a block"
        case .anyKey: return "ANYKEY"
        case .listed(let list, _): return "\(list.sqlDescription), which is a list,"
        case .assignment(let name, _): return "the assignment to $\(name)"
        case .set(let operation, _, _): return operation.rawValue
        case .subquery: return "SUBQUERY"
        case .call(_, let name, _): return "FUNCTION(…, \"\(name)\")"
        case .element: return "an element of a collection"
        case .aggregate: return "a collection that is spelled out"
        case .path(let origin, _): return "a path from \(origin.sqlDescription)"
        case .keyPath(let keys): return "“\(keys.joined(separator: "."))”"
        case .constant, .argument: return "a constant"
        case .function(let function, _): return "the function \(function.rawValue)"
        default: return "\(self)"
        }
    }
}
