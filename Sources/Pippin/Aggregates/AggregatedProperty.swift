import StoreSession

/// A property that the store computes with.
struct AggregatedProperty: Sendable {
    let plan: EntityPlan
    let path: String
    let kind: AttributeKind
    /// The names of the computed columns. No property has one of them: groups are by a property's name.
    let valueName, countName: String

    /// - Parameters:
    ///   - property: the property; nil for the models themselves, which can be counted by their identifiers.
    ///   - plan: the models' entity.
    ///   - registry: tells what models consist of.
    /// - Throws: ``PersistenceError/Code/unknownProperty`` for a property that is not a plain attribute.
    init(_ property: PropertyName?, _ plan: EntityPlan, _ registry: ModelRegistry) throws {
        self.plan = plan
        if let property {
            (path, kind) = try registry.singleValue(
                property, of: plan,
                "Stores compute with single values: numbers, texts, dates, UUIDs, URLs, data, enumerations with raw "
                    + "values, and references; of a model with its properties, such as its identifier.")
        } else {
            (path, kind) = (plan.uidKey, .integer64)
        }
        let names = Set(plan.fields.map(\.name))
        func unused(_ name: String) -> String { names.contains(name) ? unused(name + "_") : name }
        (valueName, countName) = (unused("value"), unused("count"))
    }

    /// The kind of a function's result. A sum of small whole numbers is not a small number.
    func kind(of function: AggregateFunction) -> AttributeKind {
        switch (function, kind) {
        case (.average, _): .double
        case (.sum, .integer16), (.sum, .integer32): .integer64
        default: kind
        }
    }

    /// The result; `nil` if no model has a value.
    ///
    /// - SQL: `SELECT <function>(<property>) FROM Z<ENTITY> WHERE <filter>`
    func value<Model, Value>(
        _ aggregate: Aggregate<Model, Value>, _ predicate: NSPredicate?, in source: any StructRows
    ) throws -> Value? {
        if aggregate.isByOrderOfCases {
            return aggregate.extreme(of: try distinct(Value?.self, predicate, in: source).compactMap(\.self))
        }
        let (function, type) = (aggregate.function, Value.self)
        let kind = kind(of: function)
        guard source.isStored else {
            return try decoded(result(function, values(predicate, in: source).compactMap(\.self)), kind, type)
        }
        let row = try source.computed(of: plan, predicate) { $0.columns = columns(function) }.first
        return try decoded(row.flatMap { isOfAny($0) ? $0[valueName] : nil }, kind, type)
    }

    /// - SQL: `SELECT DISTINCT <property> FROM Z<ENTITY> WHERE <filter> ORDER BY <property>`
    func distinct<Value: Decodable>(
        _ type: Value.Type, _ predicate: NSPredicate?, in source: any StructRows
    ) throws -> [Value] {
        guard source.isStored else {
            return try distinct(values(predicate, in: source)).map { try value($0, type) }
        }
        return try source.computed(of: plan, predicate) { fetch in
            fetch.columns = [.keyPath(path)]
            fetch.isDistinct = true
            fetch.sortDescriptors = [NSSortDescriptor(key: path, ascending: true)]
        }.map { try value($0[path], type) }
    }

    /// The columns to compute. A sum, which is 0 for no values, comes with the number of values.
    func columns(_ function: AggregateFunction) -> [FetchColumn] {
        let value = column(valueName, function, kind(of: function).type)
        return function == .sum ? [value, countColumn] : [value]
    }

    /// The number of values.
    var countColumn: FetchColumn { column(countName, .count, .integer64AttributeType) }

    /// Whether the result was computed from any values; `true` if these were not counted.
    func isOfAny(_ row: [String: Any]) -> Bool { (row[countName] as? NSNumber)?.intValue != 0 }

    /// A function of the property.
    func column(_ name: String, _ function: AggregateFunction, _ type: NSAttributeType) -> FetchColumn {
        .expression(
            name: name,
            NSExpression(forFunction: function.rawValue, arguments: [NSExpression(forKeyPath: path)]), type)
    }

    /// A value of the property as the struct has it; `nil` for none.
    func value<Value: Decodable>(_ value: Any?, _ type: Value.Type) throws -> Value {
        try AttributeDecoder.value(type, StoredValue(value, kind) ?? .null, entity: plan.name, key: path)
    }

    func decoded<Value: Decodable>(_ value: Any?, _ kind: AttributeKind, _ type: Value.Type) throws -> Value? {
        guard let stored = StoredValue(value, kind), !stored.isNull else { return nil }
        return try AttributeDecoder.value(type, stored, entity: plan.name, key: path)
    }
}

extension ModelRegistry {
    /// The path of a single value, and its kind. That of a reference leads to the identifier.
    ///
    /// - Throws: ``PersistenceError/Code/unknownProperty`` for a property that is not a plain attribute, with the
    ///   reason.
    func singleValue(
        _ property: PropertyName, of plan: EntityPlan, _ reason: String
    ) throws -> (path: String, kind: AttributeKind) {
        let found = try resolve(property, of: plan)
        let path = found.model.map { (found.names + [$0.uidKey]).joined(separator: ".") } ?? found.path
        let isModel = found.field?.related.map { !$0.isReference } ?? false
        guard !isModel, let kind = try attributeKind(of: path, in: plan) else {
            throw PersistenceError.noSingleValue(
                property.spelling, entity: plan.name, known: plan.propertyNames, reason)
        }
        return (path, kind)
    }

    /// The kind of the attribute at the end of a path; nil if that is not a plain attribute.
    func attributeKind(of path: String, in plan: EntityPlan) throws -> AttributeKind? {
        var fields = plan.fields
        var kind: AttributeKind?
        for name in path.split(separator: ".") {
            guard let field = fields.first(where: { $0.name == name }) else { return nil }
            switch field.kind {
            case .attribute(let attribute): (kind, fields) = (attribute, [])
            case .composite(let record): (kind, fields) = (nil, record.fields)
            case .toOne(let model): (kind, fields) = (nil, try self.plan(model).fields)
            case .json, .toMany: return nil
            }
        }
        return kind
    }

    /// The part of a path that leads through relationships; nil if it stays in the model.
    func relationships(of path: String, in plan: EntityPlan) throws -> String? {
        let names = path.split(separator: ".").map(String.init)
        var (fields, count) = (plan.fields, 0)
        for (index, name) in names.enumerated() {
            switch fields.first(where: { $0.name == name })?.kind {
            case .composite(let record)?: fields = record.fields
            case .toOne(let model)?: (fields, count) = (try self.plan(model).fields, index + 1)
            case .attribute?, .json?, .toMany?, nil: fields = []
            }
        }
        return count == 0 ? nil : names.prefix(count).joined(separator: ".")
    }
}
