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
    }

    /// The names of the properties, for messages.
    var propertyNames: [String] { record.propertyNames }

    /// The field of the property with that name.
    func field(named name: String) -> FieldPlan? { fields.first { $0.name == name } }

    func owns(_ field: FieldPlan) -> Bool { owned.contains(field.name) }

    /// Whether a model of the field can be in one model only.
    func ownsAlone(_ field: FieldPlan) -> Bool { exclusive.contains { fields[$0].name == field.name } }
}
