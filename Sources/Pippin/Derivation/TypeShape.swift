/// How a property of a type is kept, told by its type.
struct TypeShape<Value: Decodable> {
    let kind: FieldKind
    /// A value, if one came up while looking.
    private let found: Value?

    /// - Parameters:
    ///   - type: the property's type, without its optionality.
    ///   - isOptional: whether the property may be without a value.
    ///   - path: the types around it.
    init(of type: Value.Type, isOptional: Bool, within path: [ObjectIdentifier]) throws {
        if let kind = AttributeKind(of: type) {
            self.kind = .attribute(kind)
            found = MadeUp.value(of: kind) as? Value
        } else if let model = RelatedModel(type) {
            kind = .toOne(model)
            found = nil
        } else if let collection = type as? any ModelCollection.Type, let model = RelatedModel(collection.member) {
            kind = .toMany(model, isOrdered: collection.isOrdered)
            found = nil
        } else {
            guard !path.contains(ObjectIdentifier(type)) else {
                kind = .json
                found = nil
                return
            }
            let probe = TypeProbe(type, within: path)
            // An enumeration refuses a made-up raw value; what it asked for is known nevertheless.
            found = (try? Value(from: probe)) ?? StandIn.value(of: type)
            kind = probe.fieldKind(isOptional: isOptional)
        }
    }

    /// A value of the type; nil where none can be made up.
    ///
    /// - Throws: ``PersistenceError/notDerivable(type:property:reason:)`` for a model that contains itself.
    func value(within path: [ObjectIdentifier]) throws -> Value? {
        if let found { return found }
        guard !path.contains(ObjectIdentifier(Value.self)) else {
            throw PersistenceError.notDerivable(
                type: "\(Value.self)", property: "", reason: "it contains itself. Use a Reference, or an array.")
        }
        guard case .json = kind else { return try Value(from: TypeProbe(Value.self, within: path)) }
        return nil
    }
}

extension RelatedModel {
    /// The model of a property's type: the type itself, or what it refers to.
    init?(_ type: Any.Type) {
        if let reference = type as? any ModelReference.Type {
            guard let target = reference.target as? any StructModel.Type else { return nil }
            self.init(type: target, isReference: true)
        } else if let model = type as? any StructModel.Type {
            self.init(type: model, isReference: false)
        } else {
            return nil
        }
    }
}

extension TypeProbe {
    /// How a property of the probed type is kept.
    fileprivate func fieldKind(isOptional: Bool) -> FieldKind {
        switch form {
        case .single(let kind): return .attribute(kind)
        case .loose, .nothing: return .json
        case .keyed(let fields):
            let attributes = fields.filter { field in
                if case .attribute = field.kind { return true }
                return false
            }
            // A composite without any value reads as none, so one of those must be certain.
            let isTellable = !isOptional || fields.contains { !$0.isOptional }
            guard attributes.count == fields.count, !fields.isEmpty, isTellable else { return .json }
            let plans = fields.map {
                FieldPlan(key: $0.key, name: $0.key, isOptional: $0.isOptional, kind: $0.kind)
            }
            return .composite(RecordPlan(name: name, fields: plans))
        }
    }
}
