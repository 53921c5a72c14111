import CoreDataModel

extension PredicateSQL {
    /// `BEGINSWITH`, `ENDSWITH`, `LIKE` and `MATCHES`.
    func stringCondition(_ tree: ComparisonTree, in scope: SQLScope) throws -> SQLCondition {
        guard let (left, right) = try textSides(tree, in: scope) else { return .never }
        let isExact = tree.options.isEmpty || tree.options.contains(.normalized)
        if tree.comparison == .beginsWith, isExact, left.storage == .string, left.name != nil,
            let prefix = bindingSource(tree.right)
        {
            // A range condition can use an index of the column. Other texts may have a language's order.
            var range = left.holding { $0 + " >= " + prefix(.prefixStart) + " AND " + $0 + " < " + prefix(.prefixEnd) }
            range.isCompound = true
            return range
        }
        return stringFunction(tree.comparison, left.fragment, right.fragment, tree.options)
    }

    /// Both sides of a search for a text in another one; nil if one is nil. A number is searched by its digits.
    private func textSides(_ tree: ComparisonTree, in scope: SQLScope) throws -> (SQLOperand, SQLOperand)? {
        try textSides(tree, try sidesWithContent(tree, in: scope))
    }

    private func textSides(
        _ tree: ComparisonTree, _ sides: (SQLOperand, SQLOperand)
    ) throws -> (SQLOperand, SQLOperand)? {
        let (left, right) = sides
        if isNull(tree.left) || isNull(tree.right) { return nil }
        for (side, operand) in [(tree.left, left), (tree.right, right)] {
            guard let storage = operand.storage, !storage.isNumber, !operand.storage.isText else { continue }
            throw SQLError.unfit(
                "\(tree.comparison.format) compares texts, and “\(operand.name ?? side.format)” holds \(Self.content(of: operand))"
            )
        }
        return left.canBeSearched(for: right) ? sides : nil
    }

    /// A closure that makes a fragment of a constant text under a conversion; nil for anything else.
    private func bindingSource(_ tree: ExpressionTree) -> ((BindingConversion) -> SQLFragment)? {
        switch tree {
        case .constant(let value):
            guard case .string = value else { return nil }
            return { conversion in
                .parameter(.constant(value, conversion))
            }
        case .argument(let index):
            guard case .string? = constant(tree) else { return nil }
            return { conversion in .parameter(.argument(index, conversion)) }
        default: return nil
        }
    }

    /// The comparison in SQL that evaluation in memory makes: `NSCoreDataStringSearch(t0.ZNAME, ?, 8, 3)` in SQLite,
    /// with the raw values of the operator and its options.
    func stringFunction(
        _ comparison: ComparisonOperator, _ left: SQLFragment, _ right: SQLFragment, _ options: StringOptions
    ) -> SQLCondition {
        SQLCondition(SQLFragment(.stringSearch(left, right, comparison, options)))
    }

    /// `left CONTAINS right`: an object in a to-many relationship, an element in a collection, or a text in a text.
    func contains(_ tree: ComparisonTree, in scope: SQLScope) throws -> SQLCondition {
        if let condition = try membership(tree.right, ofRelationship: tree.left, tree.options, in: scope) {
            return condition
        }
        if case .listed = tree.left {
            return try membership(tree.right, of: tree.left, options: tree.options, in: scope)
        }
        if case .collection? = constant(tree.left) {
            return try membership(tree.right, of: tree.left, options: tree.options, in: scope)
        }
        return try search(textSides(tree, in: scope), tree.options)
    }

    private func search(_ sides: (SQLOperand, SQLOperand)?, _ options: StringOptions) -> SQLCondition {
        guard let sides else { return .never }
        return stringFunction(.contains, sides.0.fragment, sides.1.fragment, options)
    }

    /// `element IN collection`.
    func membership(
        _ element: ExpressionTree, of collection: ExpressionTree, options: StringOptions, in scope: SQLScope
    ) throws -> SQLCondition {
        if let condition = try membership(element, ofRelationship: collection, options, in: scope) { return condition }
        if case .listed = collection {
            return try existence(ofListed: collection, in: scope) { value in
                try condition(.comparison(ComparisonTree(value, .equalTo, element, options: options)), in: scope)
            }
        }
        if case .fetch(let request, _, false) = collection {
            return try membership(element, ofFetch: request, in: scope)
        }
        if isNull(collection) {
            _ = try operand(element, in: scope)
            return .never
        }
        let search = ComparisonTree(collection, .contains, element, options: options)
        if isString(collection) { return self.search(try textSides(search, in: scope), options) }
        if let value = try value(of: collection, in: scope) {
            try Self.checkIsNotTransformable(value, collection)
            if value.storage.isText || value.kind == .number || value.kind == .text {
                let part = try operand(element, comparedWith: value.asSide(of: .contains), in: scope)
                try Self.checkIsNotTransformable(part, element)
                return self.search(try textSides(search, (value, part)), options)
            }
        }
        return try membership(element, inListOf: collection, options, in: scope)
    }

    /// `element IN { … }`
    private func membership(
        _ element: ExpressionTree, inListOf collection: ExpressionTree, _ options: StringOptions, in scope: SQLScope
    ) throws -> SQLCondition {
        let left = try operand(element, in: scope)
        let all = try elements(of: collection)
        let present = all.filter { !isNull($0) }
        let hasNull = present.count < all.count
        if isNull(element) {
            let condition = try membership(ofNilIn: present, in: scope)
            return hasNull ? .always : condition
        }
        if let object = object(element), present.allSatisfy({ self.object($0) != nil }) {
            scope.names.isReusable = false
            return present.contains { self.object($0) == object } ? .always : .never
        }
        var parts = MembershipParts()
        for other in present { try add(other, to: &parts, element, left, options, in: scope) }
        return parts.condition(
            on: left, options, hasNull: hasNull, hasConstantsOnly: present.allSatisfy(isConstant),
            canBeNull: !present.isEmpty)
    }

    /// `nil IN { … }`, where no element is the constant nil.
    private func membership(ofNilIn elements: [ExpressionTree], in scope: SQLScope) throws -> SQLCondition {
        let absent = try elements.map { try nullity(of: $0, isNull: true, in: scope).part }
        return absent.isEmpty ? .never : SQLCondition(Self.chain(absent, "OR"), canBeNull: false, isCompound: true)
    }

    /// The conditions of which at least one must hold for a value to be in a list.
    private struct MembershipParts {
        /// The operands that are compared by one `IN`.
        var list: [SQLFragment] = []
        /// The texts that are compared by options.
        var texts: [SQLFragment] = []
        /// The conditions for operands that are compared in another way.
        var parts: [SQLFragment] = []

        func condition(
            on value: SQLOperand, _ options: StringOptions, hasNull: Bool, hasConstantsOnly: Bool, canBeNull: Bool
        ) -> SQLCondition {
            var all = parts
            if texts.count == 1 {
                all.insert(SQLFragment(.stringSearch(value.fragment, texts[0], .equalTo, options)), at: 0)
            } else if !texts.isEmpty {
                all.insert(SQLFragment(.amongTexts(value.fragment, texts, options)), at: 0)
            }
            if !list.isEmpty {
                // A long list is not repeated for each of the operand's columns.
                var value = value
                if list.count > 100 || !hasConstantsOnly { value.columns = [] }
                all.insert(value.holding { SQLFragment(.among($0, list)) }.part, at: 0)
            }
            if hasNull { all.append(value.fragment + " IS NULL") }
            guard let first = all.first else { return .never }
            return all.count == 1
                ? SQLCondition(first, canBeNull: canBeNull)
                : SQLCondition(PredicateSQL.chain(all, "OR"), isCompound: true)
        }
    }

    /// Adds the condition that an element of a list equals the value.
    private func add(
        _ other: ExpressionTree, to parts: inout MembershipParts, _ element: ExpressionTree, _ left: SQLOperand,
        _ options: StringOptions, in scope: SQLScope
    ) throws {
        var right = try operand(other, comparedWith: left, in: scope)
        markMixedNumbers(left, other, &right)
        if object(element) != nil, !isConstant(other) {
            // An object's key depends on whose key it is compared with.
            let key = try operand(element, comparedWith: right, in: scope)
            if !key.isNeverEqual(to: right) { parts.parts.append(key.fragment + " = " + right.fragment) }
            return
        }
        // Two nils are equal.
        let canBothBeNull = left.canBeNull && right.canBeNull
        if left.isNeverEqual(to: right) {
            if canBothBeNull { parts.parts.append(Self.areNull(left, right)) }
        } else if !options.isEmpty, areTexts(element, left, other, right) {
            parts.texts.append(right.fragment)
            if canBothBeNull { parts.parts.append(Self.areNull(left, right)) }
        } else if canBothBeNull {
            let plain = isMixed((other, right)) ? left.withoutAffinity : left
            let compared = isMixed((element, left)) ? right.withoutAffinity : right
            parts.parts.append(SQLFragment(.same(plain.fragment, compared.fragment, isNegated: false)))
        } else {
            parts.list.append(right.fragment)
        }
    }

    /// Whether either side of a comparison is a text, and the other one may be, so that its options count.
    func areTexts(
        _ leftTree: ExpressionTree, _ left: SQLOperand, _ rightTree: ExpressionTree, _ right: SQLOperand
    ) -> Bool {
        let (first, second) = (isText(leftTree, left), isText(rightTree, right))
        return first != false && second != false && (first == true || second == true)
    }

    /// Whether an expression is a text; nil if that is not known.
    private func isText(_ tree: ExpressionTree, _ operand: SQLOperand) -> Bool? {
        if operand.isMixed { return nil }
        if operand.storage != nil { return operand.storage.isText }
        if let kind = operand.kind, constant(tree) == nil { return kind == .text }
        switch constant(tree) {
        case nil: return nil
        case .string, .url: return true
        default: return false
        }
    }

    /// `(a IS NULL AND b IS NULL)`
    static func areNull(_ left: SQLOperand, _ right: SQLOperand) -> SQLFragment {
        (left.fragment + " IS NULL AND " + right.fragment + " IS NULL").inParentheses
    }

    /// The one value, which may be searched for a part, that an expression gives; nil for a list or a constant.
    private func value(of tree: ExpressionTree, in scope: SQLScope) throws -> SQLOperand? {
        switch tree {
        case .keyPath, .path, .function, .conditional, .cast: try operand(tree, in: scope)
        default: nil
        }
    }

    /// `element IN relationship`: whether an object, or a value, is among the destinations of a to-many relationship,
    /// or among their values; nil if the collection is no such relationship.
    private func membership(
        _ element: ExpressionTree, ofRelationship collection: ExpressionTree, _ options: StringOptions,
        in scope: SQLScope
    ) throws -> SQLCondition? {
        guard let (toMany, origin) = relationship(collection, in: scope) else { return nil }
        return try existence(of: toMany, in: origin) { target in
            // The element starts at the evaluated object, not at the destination.
            try condition(of: target, in: scope) { destination in
                ComparisonTree(destination, .equalTo, element, options: options)
            }
        }
    }
}

extension ColumnStorage? {
    /// Whether the column holds texts, or URLs, which are kept as texts.
    var isText: Bool { self == .string || self == .url }
}
