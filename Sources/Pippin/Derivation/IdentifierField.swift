import CompactCollections

/// Finds the field that a model's identifier comes from.
///
/// It is the one named `id`, or the one whose value the computed identifier is: in every model, not only in one that
/// was made up. A store finds a model by that field, and would take two models with the same value in it for one.
struct IdentifierField<Model: CoreModel> {
    let fields: [ProbedField]
    let names: [String]
    /// The numbers that the model accepts.
    let numbers: MadeUp.Numbers

    /// - Parameter prototype: a model that was decoded from the values of the fields.
    /// - Returns: the field's index.
    /// - Throws: ``PersistenceError/Code/notDerivable`` if the identifier is not the value of one property.
    func index(for prototype: Model) throws -> Int {
        if let index = names.firstIndex(of: "id") { return index }
        let key = Self.key(prototype.id)
        let indexes = fields.indices.filter { index in
            guard case .attribute = fields[index].kind, let key, let value = fields[index].value else { return false }
            return Self.key(value) == key
        }
        // The protocol takes one from the other.
        if let index = indexes.first(where: { names[$0] == "uid" }) { return index }
        guard let first = indexes.first else {
            if let id = Mirror(reflecting: prototype).children.first(where: { $0.label == "id" })?.value {
                throw refusal(
                    "it is not decoded: a `let` with a value keeps that value. Write `let id: \(type(of: id))`, or `var id` with the "
                        + "value.")
            }
            throw refusal(
                "it is none of the values that are coded (\(fields.map(\.key).joined(separator: ", "))). Return one of these "
                    + "from it, or name it in CodingKeys.")
        }
        var left = indexes
        let trials = [MadeUp(isFull: true, numbers), MadeUp(.fractions), MadeUp(.wholes)]
        // The further ones only tell several properties apart that had the same value.
        for (place, values) in trials.enumerated() where place == 0 || left.count > 1 {
            guard let other = try? Model(from: TypeProbe(Model.self, values)) else { continue }
            left = self.indexes(among: left, for: other)
            guard left.isEmpty else { continue }
            throw refusal(
                "it is the value of '\(names[first])' in some models only, and '\(other.id)' in another one that was made up, so that "
                    + "'\(names[first])' does not tell the models apart. Store the identifier, or return '\(names[first])' as it is."
            )
        }
        // Of several that cannot be told apart, the first. Each save checks whether it is the right one.
        return left.first ?? first
    }

    /// Those of some fields whose value is the identifier in a model.
    private func indexes(among indexes: [Int], for model: Model) -> [Int] {
        let values = Mirror(reflecting: model).children
        let identifier = Self.key(model.id)
        return indexes.filter { index in
            let property = values.first { $0.label == names[index] || $0.label == "_\(names[index])" }
            // What cannot be compared here is when a model is saved.
            guard let key = property.flatMap({ Self.key($0.value) }), let identifier else { return true }
            return key == identifier
        }
    }

    private func refusal(_ reason: String) -> PersistenceError {
        .notDerivable(type: "\(Model.self)", property: "id", reason: reason)
    }

    /// What an attribute would hold of a value, by which the store finds it; nil for no single value. A text with the
    /// digits of a number is not that number.
    private static func key(_ value: Any) -> RecordKey? {
        guard let value = value as? any Encodable, let stored = try? AttributeEncoder.comparable(value) else {
            return nil
        }
        return RecordKey(attributeValue: stored)
    }
}
