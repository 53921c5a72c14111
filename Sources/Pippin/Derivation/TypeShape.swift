/// How a property is stored, derived from its type.
struct TypeShape<Value: Decodable> {
    let kind: FieldKind
    /// A value, if one was found on the way.
    private let found: Value?

    /// - Parameters:
    ///   - type: the property's type, without its optionality.
    ///   - isOptional: whether the property may be without a value.
    ///   - path: the types around it.
    /// - Throws: nothing; a type that fits nothing else is stored as JSON.
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
            // An enumeration refuses a made-up raw value, but what it asked for is known all the same.
            found = (try? Value(from: probe)) ?? SampleValue.value(of: type)
            kind = probe.fieldKind(isOptional: isOptional, prototype: found)
        }
    }

    /// A value of the type; nil where none can be made up.
    ///
    /// - Throws: ``PersistenceError/Code/notDerivable`` for a model that contains itself.
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
            guard let target = reference.target as? any CoreModel.Type else { return nil }
            self.init(type: target, isReference: true)
        } else if let model = type as? any CoreModel.Type {
            self.init(type: model, isReference: false)
        } else {
            return nil
        }
    }
}

extension TypeProbe {
    /// How a property of the probed type is kept.
    ///
    /// - Parameters:
    ///   - isOptional: whether the property may be without a value.
    ///   - prototype: a value of the type, which shows its properties' names; nil if there is none.
    /// - Returns: how the property is stored.
    fileprivate func fieldKind(isOptional: Bool, prototype: Any?) -> FieldKind {
        switch form {
        case .single(let kind): return .attribute(kind)
        case .loose, .nothing: return .json
        case .keyed(let probed):
            guard !probed.isEmpty else { return .json }
            let names = prototype.map { PropertyNaming($0, probed).names } ?? probed.map { $0.caseName ?? $0.key }
            // A name that no key path has, where several properties could be meant.
            let properties = zip(names, probed).map { $0 ?? "(\($1.key))" }
            var fields: [FieldPlan] = []
            for (field, property) in zip(probed, properties) {
                fields.append(
                    FieldPlan(
                        key: field.key, name: Self.elementName(field.key, besides: fields), property: property,
                        isOptional: field.isOptional, kind: field.kind.nested, emptyValue: field.emptyValue))
            }
            if isOptional, !fields.contains(where: \.isCertain) {
                fields.append(FieldPlan(.isPresent, name: "isPresent", besides: fields))
            }
            return .composite(RecordPlan(name: name, fields: fields))
        }
    }

    /// A name for an element: the key, without characters that would make it a path, and different from the other
    /// names.
    private static func elementName(_ key: String, besides fields: [FieldPlan]) -> String {
        let names = Set(fields.map(\.name))
        var name = key.isEmpty ? "_" : key.replacing(".", with: "_")
        while names.contains(name) { name += "_" }
        return name
    }
}

extension FieldKind {
    /// How the value is stored within a nested value, which has no relationships: a model in it is a copy.
    fileprivate var nested: FieldKind {
        switch self {
        case .toOne, .toMany: .json
        default: self
        }
    }
}
