import CompactCollections

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
