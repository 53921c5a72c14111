import CoreData

/// How a property is kept.
enum FieldKind: Sendable {
    /// As an attribute.
    case attribute(AttributeKind)
    /// As a composite attribute, an attribute for each of its own.
    case composite(RecordPlan)
    /// As JSON, in a binary attribute.
    case json
    /// As a relationship to one model.
    case toOne(RelatedModel)
    /// As a relationship to many.
    case toMany(RelatedModel, isOrdered: Bool)
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
    /// What its coding calls it.
    let key: String
    /// Its attribute's or relationship's name: the property's, except within a nested value, where it is made of the key.
    let name: String
    /// The property's name, by which key paths know it.
    let property: String
    let isOptional: Bool
    let kind: FieldKind
    /// What an object has that was stored before there was the property: nothing in a list.
    var emptyValue: Data?
    /// What it says of another property that has no column of its own to tell nothing from empty; nil for a property of the model.
    var mark: Mark?

    /// A fact that the coding knows nothing of.
    enum Mark: Sendable, Equatable {
        /// There is the nested value that this is in, although it may have no values.
        case isPresent
        /// There is a relationship's list, and nothing in it.
        case isEmpty(field: Int)
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

    /// A mark: an attribute with a name that no other attribute has.
    init(_ mark: Mark, name: String, besides fields: [FieldPlan]) {
        let names = Set(fields.map { $0.name.lowercased() })
        var name = name
        while names.contains(name.lowercased()) { name += "_" }
        // No coding key begins like this.
        self.init(key: "\0\(name)", name: name, isOptional: true, kind: .attribute(.boolean))
        self.mark = mark
    }

    /// Whether a nested value that is there has a value for it for certain.
    var isCertain: Bool {
        guard !isOptional else { return false }
        switch kind {
        case .attribute, .json: return true
        case .composite(let record): return record.fields.contains(where: \.isCertain)
        case .toOne, .toMany: return false
        }
    }

    /// Whether it is a relationship to other models, for one or many.
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
    /// The coding keys, apart from the fields: what every look-up goes through.
    let keys: ContiguousArray<String>
    /// The properties' names, likewise.
    let names: ContiguousArray<String>
    /// The attributes' kinds, apart from the fields: nil for a field that is no plain attribute.
    let attributeKinds: ContiguousArray<AttributeKind?>
    /// The field that says that the nested value is there.
    let presenceMark: Int?
    /// The fields that say that a list is there, by the list's field.
    let emptyMarks: [Int: Int]
    /// What reads and writes the fields without coding, by their indexes; nil where only coding does.
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
        var emptyMarks: [Int: Int] = [:]
        for (index, field) in fields.enumerated() {
            if case .isEmpty(let list)? = field.mark { emptyMarks[list] = index }
        }
        self.emptyMarks = emptyMarks
    }

    /// The names of the properties, for messages.
    var propertyNames: [String] { fields.filter { $0.mark == nil }.map(\.property) }

    /// The index of a key. Coding asks in the same order each time, so it is looked for where the last one was found.
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
