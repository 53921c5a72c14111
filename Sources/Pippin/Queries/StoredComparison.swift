import StoreSession

/// Compares a property with values in their stored forms: an enumeration by its raw value, a nested value element by
/// element, JSON by its bytes, a reference by the identifier that it leads to.
struct StoredComparison {
    private let property: PropertyName
    private let found: ModelRegistry.StoredPath
    private let field: FieldPlan
    private let scope: FilterScope

    init(_ property: PropertyName, _ scope: FilterScope) throws {
        self.property = property
        self.scope = scope
        let plan = scope.plan
        found = try scope.registry.resolve(property, of: plan)
        guard let field = found.field else {
            throw PersistenceError.unknownProperty(property.spelling, entity: plan.name, known: plan.propertyNames)
        }
        self.field = field
    }

    func predicate(_ comparison: FilterComparison, _ value: any Encodable) throws -> NSPredicate {
        let value = Self.unwrapped(value)
        switch comparison {
        case .equal: return try equality(with: value).predicate
        case .notEqual: return try equality(with: value).negated
        case .element: return try containment(of: value)
        default:
            if let cases = (value as? any CaseIterable & Comparable & Encodable)?.cases(comparison) {
                return try predicate(isAmong: cases)
            }
            // A store knows the order of the stored values, which may be another one.
            if let value, comparison.isOfOrder, hasOwnOrder(type(of: value)) {
                throw PersistenceError.unknownOrder(
                    property: property.spelling, entity: scope.plan.name, type: "\(type(of: value))")
            }
            guard case .attribute = field.kind, let operand = try value.map(attributeValue) ?? nil else {
                throw notComparable(value)
            }
            return scope.compare(found.path, comparison.type, operand, options: comparison.options)
        }
    }

    /// The predicate that a list which is kept as JSON has an element.
    private func containment(of element: (any Encodable)?) throws -> NSPredicate {
        guard case .json = field.kind else { throw notComparable(element) }
        let elements = try scope.elements(of: property, found, field)
        guard let element, let operand = try attributeValue(element) else { throw notComparable(element) }
        return NSComparisonPredicate(
            leftExpression: elements, rightExpression: NSExpression(forConstantValue: operand), modifier: .direct,
            type: .contains, options: [])
    }

    /// The predicate that the property has one of some values.
    func predicate(isAmong values: [any Encodable]) throws -> NSPredicate {
        let values = values.map(Self.unwrapped)
        var isSingle = false
        if case .attribute = field.kind { isSingle = true }
        if case .toOne = field.kind { isSingle = true }
        guard isSingle else { return try Self.any(values.map { try equality(with: $0).predicate }) }
        // A predicate's list cannot contain nil.
        let path = found.model.map { found.path + "." + $0.uidKey } ?? found.path
        let operands = try values.compactMap { try $0.map(attributeValue) ?? nil }
        let among = scope.compare(path, .in, operands)
        return operands.count == values.count ? among : Self.any([among, scope.compare(found.path, .equalTo, nil)])
    }

    /// A predicate for equality with a value and one for inequality; only the requested one is built.
    private struct Equality {
        let make: (_ isNegated: Bool) -> NSPredicate
        var predicate: NSPredicate { make(false) }
        var negated: NSPredicate { make(true) }
        /// The same with equality and inequality exchanged.
        var opposite: Equality { Equality { [make] in make(!$0) } }
    }

    private func equality(with value: (any Encodable)?) throws -> Equality {
        switch field.kind {
        case .attribute: return equality(found.path, try value.map(attributeValue) ?? nil)
        case .toOne:
            guard let value else { return equality(found.path, nil) }
            let uid = found.model.map { found.path + "." + $0.uidKey } ?? found.path
            return equality(uid, try attributeValue(value))
        case .json: return equality(found.path, try value.map(jsonValue))
        case .composite(let record): return try equality(of: record, with: value)
        case .toMany: return try equalityOfList(with: value)
        }
    }

    /// A nested value is equal if all its parts are equal; it is missing if all its parts are missing. One that may
    /// exist without any values, and is not optional, exists where what it is in exists.
    private func equality(of record: RecordPlan, with value: (any Encodable)?) throws -> Equality {
        let missing = field.isShown ? nil : try absence()
        guard value != nil || field.isShown else { return missing ?? Equality { NSPredicate(value: $0) } }
        var stored = StoredValue.null
        if let value {
            let outer = RecordEncoder(RecordPlan(name: found.path, fields: [field]))
            do { try outer.set(value, at: 0) } catch { throw notComparable(value) }
            if record.isUnordered(value) { throw notComparable(value) }
            stored = outer.values[0]
        }
        var parts: [Equality] = []
        collect(record, stored, found.path, &parts)
        if let missing { parts.append(missing.opposite) }
        return Self.all(parts)
    }

    /// Whether the model or the nested value that the property is in is missing; nil where it cannot be.
    private func absence() throws -> Equality? {
        guard let path = property.path, let dot = path.lastIndex(of: ".") else { return nil }
        return try StoredComparison(PropertyName(path: String(path[..<dot])), scope).equality(with: nil)
    }

    /// Equal if all parts are equal; unequal if any part is.
    private static func all(_ parts: [Equality]) -> Equality {
        Equality { isNegated in
            isNegated
                ? any(parts.map(\.negated))
                : NSCompoundPredicate(andPredicateWithSubpredicates: parts.map(\.predicate))
        }
    }

    private func collect(
        _ record: RecordPlan, _ value: StoredValue, _ path: String, _ parts: inout [Equality]
    ) {
        var composite: CompositeValue?
        if case .object(let object) = value { composite = object as? CompositeValue }
        for (field, value) in zip(record.fields, record.values(of: composite)) {
            let (path, value) = ("\(path).\(field.name)", value ?? .null)
            switch field.kind {
            case .composite(let inner): collect(inner, value, path, &parts)
            case .attribute(let kind): parts.append(equality(path, value.attributeValue(kind)))
            default: parts.append(equality(path, value.attributeValue(.data)))
            }
        }
    }

    /// For a list of models, only its count is known, and for an optional one whether it exists.
    private func equalityOfList(with value: (any Encodable)?) throws -> Equality {
        if let value {
            guard let list = value as? any ModelCollection, list.members.isEmpty else { throw notComparable(value) }
        }
        let owner = found.names.dropLast().joined(separator: ".")
        let noOwner = owner.isEmpty ? nil : equality(owner, nil)
        let mark = try mark(within: owner)
        // A list that is not optional is there if its owner is.
        if value == nil, mark == nil { return noOwner ?? Equality { NSPredicate(value: $0) } }
        var parts = [equality("\(found.path).@count", 0)]
        if let mark { parts.append(equality(mark, value == nil ? nil : NSNumber(value: true))) }
        let list = parts.count == 1 ? parts[0] : Self.all(parts)
        guard let noOwner else { return list }
        // If the model that owns the list is missing, the list counts as nil, and equals no empty list.
        if value != nil { return Self.all([noOwner.opposite, list]) }
        return Self.all([noOwner.opposite, list.opposite]).opposite
    }

    /// The path of the mark that tells an empty list from none; nil for a list that is not optional.
    private func mark(within owner: String) throws -> String? {
        guard field.isOptional, let path = property.path else { return nil }
        var plan = scope.plan
        if let dot = path.lastIndex(of: ".") {
            guard let model = try scope.registry.resolve(PropertyName(path: String(path[..<dot])), of: plan).model
            else {
                return nil
            }
            plan = model
        }
        guard let list = plan.fields.firstIndex(where: { $0.name == field.name && $0.mark == nil }),
            let mark = plan.record.listMarks[list]
        else { return nil }
        return owner.isEmpty ? plan.fields[mark].name : "\(owner).\(plan.fields[mark].name)"
    }

    // MARK: Values

    private func attributeValue(_ value: any Encodable) throws -> Any? {
        // A model is found by its identifier, as it is in a format.
        if found.model != nil, let model = value as? any CoreModel { return try model.keyValue() }
        do { return try AttributeEncoder.comparable(value) } catch {
            // The value's coding may produce anything: a list, a record, NaN. Of a number that no store keeps, the
            // error says why.
            guard value is any Numeric, case .invalidValue? = error as? EncodingError else {
                throw notComparable(value)
            }
            throw PersistenceError.notKept(
                property: property.spelling, entity: scope.plan.name, reason: error.encodingReason)
        }
    }

    private func jsonValue(_ value: any Encodable) throws -> Any {
        guard !ValueJSON.varies(value) else { throw notComparable(value) }
        do { return try ValueJSON.data(of: value) } catch { throw notComparable(value) }
    }

    private func notComparable(_ value: (any Encodable)?) -> PersistenceError {
        .notComparable(
            property: property.spelling, entity: scope.plan.name, type: value.map { "\(type(of: $0))" } ?? "nil")
    }

    /// A value with one level of optionality removed; nil if it is nil.
    private static func unwrapped(_ value: any Encodable) -> (any Encodable)? {
        guard let optional = value as? any OptionalValue else { return value }
        return optional.wrappedValue
    }

    // MARK: Predicates

    private func equality(_ path: String, _ value: Any?) -> Equality {
        Equality { [scope] in scope.compare(path, $0 ? .notEqualTo : .equalTo, value) }
    }

    private static func any(_ predicates: [NSPredicate]) -> NSPredicate {
        predicates.isEmpty ? NSPredicate(value: false) : NSCompoundPredicate(orPredicateWithSubpredicates: predicates)
    }
}

extension RecordPlan {
    /// Whether a nested value contains something whose JSON differs from that of an equal value.
    fileprivate func isUnordered(_ value: Any) -> Bool {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.contains { isUnordered($0.value) } }
        return mirror.children.contains { property in
            switch fields.first(where: { $0.property == property.label && $0.mark == nil })?.kind {
            case .composite(let record)?: record.isUnordered(property.value)
            case .attribute?: false
            case .json?: ValueJSON.varies(property.value)
            // What is coded by hand may be any part of the JSON.
            case .toOne?, .toMany?, nil: ValueJSON.hasUnordered(property.value)
            }
        }
    }
}
