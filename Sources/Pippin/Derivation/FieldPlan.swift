import StoreSession

/// How a property is stored.
enum FieldKind: Sendable {
    /// As an attribute.
    case attribute(AttributeKind)
    /// As a composite attribute, an attribute for each of its own.
    case composite(RecordPlan)
    /// As JSON, in a binary attribute: a list of single values of a kind, or anything else.
    case json(listOf: AttributeKind? = nil)
    /// As a relationship to one model.
    case toOne(RelatedModel)
    /// As a relationship to many.
    case toMany(RelatedModel, isOrdered: Bool)

    /// Whether it is a relationship to one model.
    var isModel: Bool {
        if case .toOne = self { return true }
        return false
    }
}

/// The other end of a relationship, as a property shows it.
struct RelatedModel: Sendable {
    /// The model's type.
    let type: any CoreModel.Type
    /// Whether the property has references only.
    let isReference: Bool

    var id: ObjectIdentifier { ObjectIdentifier(type) }
}

/// A property of a model, as its coding shows it.
struct FieldPlan: Sendable {
    /// The coding key.
    let key: String
    /// The name of its attribute or relationship: the property's name, except within a nested value, where it is
    /// derived from the key.
    let name: String
    /// The property's name, which key paths use.
    let property: String
    let isOptional: Bool
    let kind: FieldKind
    /// The type of an optional one's values if it is optional itself, `Int?` of an `Int??`: nil is a value then. Nil
    /// for any other property.
    var optionalContent: Any.Type?
    /// The type that the field's values are decoded as, without its optionality; nil for one that has no coding of its
    /// own: what is stored of such a value is all of it.
    private(set) var codedType: Any.Type?
    /// The value for objects that were stored before the property existed: for a list, nothing in it.
    var emptyValue: Data?
    /// The name in stores of builds that took the key for another property's; nil if it was the same.
    var formerName: String?
    /// The fact that this field records about another property, whose own column cannot tell nil from empty; nil for a
    /// property of the model.
    var mark: Mark?

    /// A fact that the coding knows nothing of.
    enum Mark: Sendable, Equatable {
        /// The nested value that contains the mark exists, even if it has no values.
        case isPresent
        /// A relationship's list exists, even if it has no members.
        case hasList(field: Int)
    }

    init(
        key: String, name: String, property: String? = nil, isOptional: Bool, kind: FieldKind, emptyValue: Data? = nil
    ) {
        self.key = key
        self.name = name
        self.property = property ?? name
        self.isOptional = isOptional
        self.kind = kind
        self.emptyValue = emptyValue
    }

    /// A property that a type asked for.
    ///
    /// - Parameters:
    ///   - probed: the property.
    ///   - name: the name of its attribute or relationship.
    ///   - property: the property's name.
    ///   - kind: how it is stored.
    init(_ probed: ProbedField, name: String, property: String, kind: FieldKind) {
        self.init(
            key: probed.key, name: name, property: property, isOptional: probed.isOptional, kind: kind,
            emptyValue: probed.emptyValue)
        optionalContent = probed.optionalContent
        if !Self.isBasic(probed.wrappedType) { codedType = probed.wrappedType }
    }

    /// Whether a type is one that containers have a method for, or whose coding is not used.
    static func isBasic(_ type: Any.Type) -> Bool { type is any BasicValue.Type || AttributeKind(of: type) != nil }

    /// The field, kept in another way.
    func of(_ kind: FieldKind) -> FieldPlan {
        var field = FieldPlan(
            key: key, name: name, property: property, isOptional: isOptional, kind: kind, emptyValue: emptyValue)
        (field.formerName, field.mark, field.optionalContent) = (formerName, mark, optionalContent)
        field.codedType = codedType
        return field
    }

    /// Whether a stored value may have more in it than the field's type knows of, so that a save merges it.
    var isMerged: Bool {
        switch kind {
        case .attribute, .json: codedType != nil
        case .composite(let record): record.fields.contains(where: \.isMerged)
        case .toOne, .toMany: false
        }
    }

    /// A mark: an attribute with a name that no other attribute has.
    init(_ mark: Mark, name: String, besides fields: [FieldPlan]) {
        let names = Set(fields.map { $0.name.lowercased() })
        var name = name
        while names.contains(name.lowercased()) { name += "_" }
        // No coding key begins with this character.
        self.init(key: "\0\(name)", name: name, isOptional: true, kind: .attribute(.boolean))
        self.mark = mark
    }

    /// The name of the mark of a list, unless another property has it.
    static func listMark(of list: String) -> String { "\(list)IsPresent" }

    /// Whether a nested value that exists certainly has a value for this field.
    var isCertain: Bool {
        guard !isOptional else { return false }
        switch kind {
        case .attribute, .json: return true
        case .composite(let record): return record.fields.contains(where: \.isCertain)
        case .toOne, .toMany: return false
        }
    }

    /// Whether the columns of a nested value tell that it exists. One without certain values that is not optional has
    /// no mark: it exists where what it is in exists.
    var isShown: Bool { isOptional || isCertain }

    /// The other end, if this is a relationship; nil otherwise.
    var related: RelatedModel? {
        switch kind {
        case .toOne(let model), .toMany(let model, _): model
        default: nil
        }
    }

    var isToMany: Bool {
        if case .toMany = kind { return true }
        return false
    }
}

/// The properties of a model or of a composite value, in the order in which its coding asks for them.
final class RecordPlan: Sendable {
    let name: String
    let fields: [FieldPlan]
    /// The coding keys, in an array of their own, since every look-up goes through them.
    let keys: ContiguousArray<String>
    /// The properties' names, likewise.
    let names: ContiguousArray<String>
    /// The attributes' kinds, in an array of their own; nil for a field that is not a plain attribute.
    let attributeKinds: ContiguousArray<AttributeKind?>
    /// The field that marks the nested value as present.
    let presenceMark: Int?
    /// The fields that mark a list as present, by the list's field.
    let listMarks: [Int: Int]
    /// The functions that read and write the fields by index without coding; nil if only coding does.
    let columns: ColumnFunctions?

    init(name: String, fields: [FieldPlan], columns: ColumnFunctions? = nil) {
        self.name = name
        self.columns = columns
        self.fields = fields
        keys = ContiguousArray(fields.map(\.key))
        names = ContiguousArray(fields.map(\.name))
        attributeKinds = ContiguousArray(
            fields.map { field in
                if case .attribute(let kind) = field.kind { return kind }
                return nil
            })
        presenceMark = fields.firstIndex { $0.mark == .isPresent }
        var listMarks: [Int: Int] = [:]
        for (index, field) in fields.enumerated() {
            if case .hasList(let list)? = field.mark { listMarks[list] = index }
        }
        self.listMarks = listMarks
    }

    /// The names of the properties, for messages.
    var propertyNames: [String] { fields.filter { $0.mark == nil }.map(\.property) }

    /// The index of a key. Coding asks in the same order each time, so the search begins after the key found last.
    ///
    /// - Parameters:
    ///   - key: the key's name.
    ///   - cursor: the index expected; moved to the one after the key's.
    /// - Returns: the index; nil for a key that the plan does not have.
    func index(of key: String, cursor: inout Int) -> Int? {
        if cursor < keys.count, keys[cursor] == key {
            cursor += 1
            return cursor - 1
        }
        guard let index = keys.firstIndex(of: key) else { return nil }
        cursor = index + 1
        return index
    }
}

/// The entity that a model becomes.
final class EntityPlan: Sendable {
    let type: any CoreModel.Type
    let name: String
    let record: RecordPlan
    /// The index of the identifier's field.
    let uidField: Int
    /// Whether the identifier is computed, so that it may be another value than the one that is stored for it.
    let computesIdentifier: Bool
    /// The facts that the model's schema states.
    let facts: [SchemaFact]
    /// The names of the relationships whose models this one owns.
    let owned: Set<String>
    /// The indexes of the relationships whose models can be in one model only, since it owns them.
    let exclusive: Set<Int>
    /// The indexes of the fields that are relationships.
    let relationships: [Int]
    /// The fields that saves fill in with their date.
    let stamps: [Stamp]
    /// How many models the latest fetch of all models had, as an estimate for the next one.
    let latestCount = Locked(0)

    var fields: [FieldPlan] { record.fields }
    var uidKey: String { fields[uidField].name }
    var id: ObjectIdentifier { ObjectIdentifier(type) }

    init(type: any CoreModel.Type, name: String, record: RecordPlan, uidField: Int, facts: [SchemaFact]) {
        self.type = type
        self.name = name
        self.record = record
        self.uidField = uidField
        computesIdentifier = record.fields[uidField].name != "id"
        self.facts = facts
        owned = Set(
            facts.compactMap { fact in
                if case .owns(let property) = fact { return property.path }
                return nil
            })
        let owned = owned
        // The other side of a declared relationship may hold many.
        var declared: Set<String> = []
        for case .inverse(let property, _, _) in facts { if let path = property.path { declared.insert(path) } }
        exclusive = Set(
            record.fields.indices.filter {
                owned.contains(record.fields[$0].name) && !declared.contains(record.fields[$0].name)
            })
        relationships = record.fields.indices.filter { record.fields[$0].related != nil }
        stamps = facts.compactMap { fact in
            guard case .stamp(let property, let kind) = fact else { return nil }
            return record.fields.firstIndex { $0.name == property.path }.map { Stamp(field: $0, kind: kind) }
        }
    }

    /// Whether saves decide on the value of a field once a model is stored.
    func isStamped(_ field: Int) -> Bool { stamps.contains { $0.field == field } }

    /// The names of the properties, for messages.
    var propertyNames: [String] { record.propertyNames }

    /// The field of the property with that name.
    func field(named name: String) -> FieldPlan? {
        if let field = fields.first(where: { $0.name == name }) { return field }
        // A property with an attribute is named as if that were a wrapper; another macro's may be none.
        return name.hasPrefix("_") ? fields.first { $0.name == name.dropFirst() } : nil
    }

    func owns(_ field: FieldPlan) -> Bool { owned.contains(field.name) }

    /// Whether a model of the field can be in one model only.
    func ownsAlone(_ field: FieldPlan) -> Bool { exclusive.contains { fields[$0].name == field.name } }
}
