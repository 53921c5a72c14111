import StoreSession

/// How a property is stored, derived from its type.
struct TypeShape<Value: Decodable> {
    let kind: FieldKind
    /// A value, if one was found on the way.
    private let found: Value?
    /// Why the type refused the made-up values, where nothing else has a value of it.
    private let refusal: (any Error)?

    /// - Parameters:
    ///   - type: the property's type, without its optionality.
    ///   - isOptional: whether the property may be without a value.
    ///   - outer: the probe of the type around it.
    /// - Throws: nothing; a type that fits nothing else is stored as JSON.
    init(of type: Value.Type, isOptional: Bool, within outer: TypeProbe) throws {
        if let kind = AttributeKind(of: type) {
            (self.kind, refusal) = (.attribute(kind), nil)
            found = outer.values.value(of: kind) as? Value
        } else if let sample = SampleValue.untried(type) {
            (kind, found, refusal) = (.json(), sample, nil)
        } else if let model = RelatedModel(type) {
            (kind, found, refusal) = (.toOne(model), nil, nil)
        } else if let collection = type as? any ModelCollection.Type, let model = RelatedModel(collection.member) {
            (kind, found, refusal) = (.toMany(model, isOrdered: collection.isOrdered), nil, nil)
        } else if outer.path.contains(ObjectIdentifier(type)) {
            (kind, found, refusal) = (.json(), nil, nil)
        } else {
            let probe = TypeProbe(type, within: outer)
            let result = Result { try Value(from: probe) }
            // An enumeration refuses a made-up raw value, but what it asked for is known all the same.
            found = (try? result.get()) ?? SampleValue.value(of: type, outer.values.turn(of: type))
            if case .failure(let error) = result, found == nil { refusal = error } else { refusal = nil }
            let isWhole = probe.hasAllKeys(of: type, unlessRefused: result, sample: found)
            let kind = isWhole ? probe.fieldKind(isOptional: isOptional, prototype: found) : .json()
            if case .json = kind, let collection = type as? any ModelCollection.Type {
                self.kind = .json(listOf: AttributeKind(ofElements: collection.member))
            } else {
                self.kind = kind
            }
        }
    }

    /// A value of the type; nil where none can be made up.
    ///
    /// - Throws: ``PersistenceError/Code/notDerivable`` for a model that contains itself, and what the type throws that
    ///   refuses the made-up values.
    func value(within outer: TypeProbe) throws -> Value? {
        if let found { return found }
        guard !outer.path.contains(ObjectIdentifier(Value.self)) else {
            throw PersistenceError.notDerivable(
                type: "\(Value.self)", property: "", reason: "it contains itself. Use a Reference, or an array.")
        }
        if let refusal { throw refusal }
        guard case .json = kind else { return try Value(from: TypeProbe(Value.self, within: outer)) }
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
    /// Whether the keys that the type asked for are all that it has. An enumeration asks for others when it has another
    /// case, and a type that refused the values may not have come to the rest.
    ///
    /// - Parameters:
    ///   - type: the probed type.
    ///   - result: the result of decoding it.
    ///   - sample: a value of it, whose coding shows the keys; nil if there is none.
    /// - Returns: whether the value can be kept by its keys.
    fileprivate func hasAllKeys<Value>(
        of type: Value.Type, unlessRefused result: Result<Value, any Error>, sample: Value?
    ) -> Bool {
        guard case .keyed(let fields) = form, !fields.isEmpty else { return true }
        guard !isEnumeration(type) else { return false }
        guard case .failure = result else { return true }
        guard let sample = sample as? any Encodable, let json = try? ValueJSON.data(of: sample),
            let object = try? JSONSerialization.jsonObject(with: json) as? [String: Any]
        else { return false }
        return Set(object.keys).isSubset(of: fields.map(\.key))
    }

    /// How a property of the probed type is kept.
    ///
    /// - Parameters:
    ///   - isOptional: whether the property may be without a value.
    ///   - prototype: a value of the type, which shows its properties' names; nil if there is none.
    /// - Returns: how the property is stored.
    fileprivate func fieldKind(isOptional: Bool, prototype: Any?) -> FieldKind {
        switch form {
        case .single(let kind): return .attribute(kind)
        case .loose, .nothing: return .json()
        case .keyed(let probed):
            guard !probed.isEmpty else { return .json() }
            let names = prototype.map { PropertyNaming($0, probed).names } ?? probed.map { $0.caseName ?? $0.key }
            // A name that no key path has, where several properties could be meant.
            let properties = zip(names, probed).map { $0 ?? "(\($1.key))" }
            var fields: [FieldPlan] = []
            for (field, property) in zip(probed, properties) {
                fields.append(
                    FieldPlan(
                        field, name: Self.elementName(field.key, besides: fields), property: property,
                        kind: field.kind.nested))
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
        case .toOne, .toMany: .json()
        default: self
        }
    }
}

extension AttributeKind {
    /// The kind of the single values of a list: basic ones, and those that have such a raw value. Nil for elements of
    /// any other type, which are not tried: a list of them needs no value.
    init?(ofElements type: Any.Type) {
        // No attribute holds all numbers of these types.
        guard type != UInt.self, type != UInt64.self, let type = type as? any Decodable.Type,
            type is any BasicValue.Type || type is any RawRepresentable.Type || AttributeKind(of: type) != nil,
            case .attribute(let kind)? = Self.shape(of: type)
        else { return nil }
        self = kind
    }

    private static func shape<Element: Decodable>(of type: Element.Type) -> FieldKind? {
        try? TypeShape(of: type, isOptional: false, within: TypeProbe(Any.self)).kind
    }
}

/// Finds out which property each coding key belongs to. A key path names a property, and a store finds its value by the
/// key.
struct PropertyNaming {
    private var left: [(name: String, type: Any.Type, value: Any)]
    private let fields: [ProbedField]
    /// The properties' names, by field; nil where several properties could be meant.
    private(set) var names: [String?]

    init(_ prototype: Any, _ fields: [ProbedField]) {
        self.fields = fields
        left = Mirror(reflecting: prototype).children.compactMap { child in
            child.label.map { ($0, Swift.type(of: child.value), child.value) }
        }
        names = Array(repeating: nil, count: fields.count)
        nameByCases()
        nameByValues()
        nameByKeys()
        nameByTypes()
    }

    private mutating func take(_ name: String, for field: Int) -> Bool {
        guard let index = left.firstIndex(where: { $0.name == name }) else { return false }
        names[field] = left.remove(at: index).name
        return true
    }

    private var unnamed: [Int] { fields.indices.filter { names[$0] == nil } }

    /// In coding that the compiler writes, a key's case is called like its property, whatever the key is.
    private mutating func nameByCases() {
        for field in unnamed {
            guard let name = fields[field].caseName else { continue }
            // A wrapped property is stored under its name with an underscore.
            _ = take(name, for: field) || take("_" + name, for: field)
        }
    }

    /// A type that reads itself has the value of a key in one of its properties. Most made-up values are like no other.
    private mutating func nameByValues() {
        for field in unnamed {
            guard let value = comparable(fields[field].value),
                unnamed.filter({ comparable(fields[$0].value) == value }).count == 1
            else { continue }
            let same = left.filter { $0.type == fields[field].type && comparable($0.value) == value }
            if same.count == 1 { _ = take(same[0].name, for: field) }
        }
    }

    private mutating func nameByKeys() {
        for field in unnamed {
            let (key, type) = (fields[field].key, fields[field].type)
            if left.contains(where: { $0.name == key && $0.type == type }) { _ = take(key, for: field) }
        }
    }

    private mutating func nameByTypes() {
        for field in unnamed {
            let possible = left.filter { $0.type == fields[field].type }
            if possible.count == 1, unnamed.filter({ fields[$0].type == fields[field].type }).count == 1 {
                _ = take(possible[0].name, for: field)
            }
        }
        // A key without a property of its type belongs to what the type computes.
        for field in unnamed where !left.contains(where: { $0.type == fields[field].type }) {
            if !names.contains(fields[field].key) { names[field] = fields[field].key }
        }
    }

    private func comparable(_ value: Any?) -> AnyHashable? {
        guard let value else { return nil }
        if let optional = value as? any OptionalValue { return optional.wrappedValue as? AnyHashable }
        return value as? AnyHashable
    }
}

extension CodingKey {
    /// The name of the key's case; nil for a key that is not a case of an enumeration.
    var caseName: String? { enumCaseName(self).map { String(cString: $0) } }
}

/// Of the Swift runtime; declared as in the standard library, which uses it to print enumerations. NULL for a value of
/// any other type.
@_silgen_name("swift_EnumCaseName")
private func enumCaseName<Value>(_ value: Value) -> UnsafePointer<CChar>?
