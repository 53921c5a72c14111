/// Derives a model's entity from its type, by decoding it once from made-up values.
enum EntityDerivation {
    /// Whether columns are used if a model has them. Tests turn this off to compare the results with coding.
    @TaskLocal static var usesColumns = true

    /// - Throws: ``PersistenceError/Code/notDerivable`` with the property that makes it impossible.
    static func plan<Model: CoreModel>(of type: Model.Type) throws -> EntityPlan {
        let (probe, prototype) = try prototype(of: type)
        guard case .keyed(let probed) = probe.form, !probed.isEmpty else {
            throw PersistenceError.notDerivable(
                type: probe.name, property: "",
                reason:
                    "its coding has no keys of its own. A model must be a struct or a final class with properties; put what "
                    + "is coded otherwise into a property.")
        }
        let names = try propertyNames(of: prototype, probed)
        let formerNames = formerNames(of: prototype, probed)
        var fields = zip(probed, names).map {
            FieldPlan($0, name: $1, property: $1, kind: $0.kind)
        }
        let schema = Model.schema as? any AnySchema
        var facts = schema?.facts ?? []
        try KeptAsJSON(type: probe.name, probed: probed).apply(facts, to: &fields)
        for index in fields.indices where fields[index].name != formerNames[index] {
            fields[index].formerName = formerNames[index]
        }
        for (index, field) in fields.enumerated() where field.isToMany && field.isOptional {
            // For a relationship, nil and an empty list look the same without a mark.
            var mark = FieldPlan(.hasList(field: index), name: FieldPlan.listMark(of: field.name), besides: fields)
            mark.formerName = field.formerName.map(FieldPlan.listMark)
            fields.append(mark)
        }
        let uidField = try IdentifierField(fields: probed, names: names, numbers: probe.values.numbers)
            .index(for: prototype)
        facts += InitialValues.facts(of: type, fields, uidField: uidField, besides: facts)
        let plan = EntityPlan(
            type: type, name: schema?.entityName ?? probe.name,
            record: RecordPlan(
                name: probe.name, fields: fields, columns: try columns(of: type, prototype, probed.map(\.key))),
            uidField: uidField, facts: facts)
        try SchemaCheck.check(plan)
        try EncodedKeys(type: probe.name).check(prototype, plan.record)
        return plan
    }

    /// Models of made-up values that their type accepts: without values in optional properties, and with them.
    static func prototypes<Model: CoreModel>(of type: Model.Type) -> [Model] {
        guard let (probe, prototype) = try? prototype(of: type) else { return [] }
        let full = try? Model(from: TypeProbe(type, MadeUp(isFull: true, probe.values.numbers)))
        return [prototype] + (full.map { [$0] } ?? [])
    }

    /// A model of made-up values that its type accepts.
    private static func prototype<Model: CoreModel>(
        of type: Model.Type
    ) throws -> (probe: TypeProbe, prototype: Model) {
        var refusal: PersistenceError?
        for numbers in MadeUp.Numbers.allCases {
            let probe = TypeProbe(type, MadeUp(numbers))
            do { return (probe, try Model(from: probe)) } catch {
                refusal =
                    refusal ?? error as? PersistenceError
                    ?? .notDerivable(
                        type: probe.name, property: probe.fields.last?.key ?? "",
                        reason:
                            "init(from:) refused the values it was tried with (\(error)). Check values elsewhere, or make the "
                            + "property of a type that is Prototyped.")
            }
        }
        throw refusal ?? .notDerivable(type: "\(type)", property: "", reason: "no values were found for it.")
    }

    /// The functions that read and write columns without coding; nil for a model without such functions.
    private static func columns<Model: CoreModel>(
        of type: Model.Type, _ prototype: Model, _ keys: [String]
    ) throws -> ColumnFunctions? {
        guard usesColumns, let columns = Model.compiledColumns, columns.functions.type == Model.self else { return nil }
        let properties = Mirror(reflecting: prototype).children.compactMap(\.label)
        // A property that the macro did not see would be lost silently.
        if let unseen = properties.first(where: { !columns.names.contains($0) }) {
            throw PersistenceError.notDerivable(
                type: "\(type)", property: unseen,
                reason: "@CoreModel did not find it in the source. Write ': CoreModel' in place of the macro.")
        }
        return columns.names == keys ? columns.functions : nil
    }

    /// The properties' names, by field.
    private static func propertyNames<Model: CoreModel>(of prototype: Model, _ fields: [ProbedField]) throws -> [String]
    {
        try zip(PropertyNaming(prototype, fields).names, fields).map { name, field in
            if let name { return name }
            throw PersistenceError.notDerivable(
                type: "\(Model.self)", property: field.key,
                reason:
                    "several of its properties could have the coding key '\(field.key)'. Give the case in CodingKeys the property's name: "
                    + "case name = \"\(field.key)\".")
        }
    }

    /// The attributes' names in stores of earlier builds, which paired keys that are not a property's name with the
    /// remaining properties in order.
    private static func formerNames(of prototype: Any, _ fields: [ProbedField]) -> [String] {
        let properties = Mirror(reflecting: prototype).children.compactMap { child in
            child.label.map { (name: $0, type: Swift.type(of: child.value) as Any.Type) }
        }
        let (keys, known) = (Set(fields.map(\.key)), Set(properties.map(\.name)))
        var left = properties.filter { !keys.contains($0.name) }
        return fields.map { field in
            guard !known.contains(field.key), let index = left.firstIndex(where: { $0.type == field.type }) else {
                return field.key
            }
            return left.remove(at: index).name
        }
    }
}

/// The keys that a model encodes. A store keeps no value of a key that is not decoded as well, so every save would
/// fail.
struct EncodedKeys {
    /// The model's type, for messages.
    let type: String

    /// - Parameters:
    ///   - prototype: a model.
    ///   - record: its fields, as decoding shows them.
    /// - Throws: ``PersistenceError/Code/notDerivable`` for a key that is encoded only, and for one that several
    ///   properties are encoded under.
    func check(_ prototype: some CoreModel, _ record: RecordPlan) throws {
        // Other models are checked by themselves.
        let options = CodedTree.Options { $0 is any CoreModel || $0 is any ModelReference || $0 is any ModelCollection }
        // Made-up values may be none that can be encoded.
        guard let tree = try? CodedTree(prototype, options) else { return }
        try check(tree, record, "")
    }

    private func check(_ tree: CodedTree, _ record: RecordPlan, _ path: String) throws {
        var cursor = 0
        var former: [String: CodedTree] = [:]
        for (key, value) in tree.keyed ?? [] {
            if let other = former.updateValue(value, forKey: key), other.bytes != value.bytes {
                throw PersistenceError.notDerivable(
                    type: type, property: path + key,
                    reason:
                        "several properties are encoded under this key, and a store would keep one of them. Give each a "
                        + "coding key of its own.")
            }
            guard let index = record.index(of: key, cursor: &cursor) else {
                throw PersistenceError.notDerivable(
                    type: type, property: path + key,
                    reason:
                        "it is encoded, and not decoded, so that it could not be saved. A `let` with a value is not decoded: make it a "
                        + "`var`, or leave it out of CodingKeys. An init(from:) of your own has to decode every key that is "
                        + "encoded.")
            }
            if case .composite(let inner) = record.fields[index].kind { try check(value, inner, "\(path)\(key).") }
        }
    }
}

/// The rule that a property is kept as JSON, whatever its coding shows.
struct KeptAsJSON {
    /// The model's type, for messages.
    let type: String
    /// What the model's coding asked for.
    let probed: [ProbedField]

    /// Changes the fields that the rules name.
    ///
    /// - Parameters:
    ///   - facts: the facts of the model's schema.
    ///   - fields: the model's fields, in the order of `probed`.
    /// - Throws: ``PersistenceError/Code/notDerivable`` for a property that is a single value or another model.
    func apply(_ facts: [SchemaFact], to fields: inout [FieldPlan]) throws {
        for case .json(let property) in facts {
            // The check of the schema reports what is not stored.
            guard let path = property.path?.split(separator: ".").map(String.init), let name = path.first,
                let index = fields.firstIndex(where: { $0.name == name })
            else { continue }
            let isOwnType = path.count == 1 && !FieldPlan.isBasic(probed[index].wrappedType)
            fields[index] = try changed(fields[index], path.dropFirst(), property, isOwnType: isOwnType)
        }
    }

    private func changed(
        _ field: FieldPlan, _ path: ArraySlice<String>, _ property: PropertyName, isOwnType: Bool = false
    ) throws -> FieldPlan {
        if let name = path.first {
            guard case .composite(let record) = field.kind,
                let index = record.fields.firstIndex(where: { $0.property == name && $0.mark == nil })
            else { return field }
            var fields = record.fields
            fields[index] = try changed(fields[index], path.dropFirst(), property)
            return field.of(.composite(RecordPlan(name: record.name, fields: fields)))
        }
        switch field.kind {
        case .json: return field
        case .composite: break
        case .attribute:
            guard isOwnType else {
                throw refusal(property, "it is a single value, which a column of its own keeps.")
            }
        case .toOne, .toMany: throw refusal(property, "it has other models, which are kept in a table of their own.")
        }
        return field.of(.json())
    }

    private func refusal(_ property: PropertyName, _ reason: String) -> PersistenceError {
        .notDerivable(type: type, property: property.path ?? property.spelling, reason: "it cannot be JSON: \(reason)")
    }

}

/// The initial values of models' properties, evaluated once: a date is the same for all objects, and for the model.
private enum InitialValues {
    private static let known = Locked<[ObjectIdentifier: [String: any Encodable & Sendable]]>([:])

    /// The defaults that initial values stand for: of properties that must have a value, and for which the schema says
    /// nothing else.
    static func facts<Model: CoreModel>(
        of type: Model.Type, _ fields: [FieldPlan], uidField: Int, besides facts: [SchemaFact]
    ) -> [SchemaFact] {
        let values = values(of: type)
        guard !values.isEmpty else { return [] }
        let declared = facts.compactMap { fact in
            if case .defaultValue(let property, _) = fact { property.path } else { nil }
        }
        return fields.indices.compactMap { index in
            let field = fields[index]
            guard index != uidField, field.mark == nil, !field.isOptional, field.related == nil,
                !declared.contains(field.property), let value = values[field.property],
                isKept(value, as: field)
            else { return nil }
            return .defaultValue(PropertyName(path: field.property), value)
        }
    }

    /// Whether a store keeps the value; what none keeps is refused when it is saved.
    private static func isKept(_ value: any Encodable, as field: FieldPlan) -> Bool {
        do {
            switch field.kind {
            case .attribute(let kind):
                _ = try AttributeEncoder.kept(AttributeEncoder.storedValue(of: value, kind, name: field.name))
            case .json: _ = try ValueJSON.data(of: value)
            case .composite, .toOne, .toMany: break
            }
            return true
        } catch { return false }
    }

    private static func values<Model: CoreModel>(of type: Model.Type) -> [String: any Encodable & Sendable] {
        if let values = known.withLock({ $0[ObjectIdentifier(type)] }) { return values }
        let values = Model.initialValues
        return known.withLock { known in
            if let earlier = known[ObjectIdentifier(type)] { return earlier }
            known[ObjectIdentifier(type)] = values
            return values
        }
    }
}
