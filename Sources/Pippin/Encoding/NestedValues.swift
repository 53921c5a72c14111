import StoreSession

// A nested value in the form of its composite attribute: by the elements' names, without elements that have no value.
extension RecordPlan: CompositeForm {
    /// - Parameter values: by field.
    /// - Returns: the values as one.
    func composite(_ values: ContiguousArray<StoredValue>) -> CompositeValue { CompositeValue(values, in: self) }

    func elements(of values: ContiguousArray<StoredValue>) -> [String: Any] {
        var elements: [String: Any] = [:]
        for (field, value) in zip(fields, values) where !value.isNull {
            switch field.kind {
            case .attribute(let kind): elements[field.name] = value.attributeValue(kind)
            case .json: elements[field.name] = value.attributeValue(.data)
            case .composite:
                guard case .object(let object) = value, let inner = object as? CompositeValue else { continue }
                // An element without values is read as nil.
                let found = inner.elements
                if !found.isEmpty { elements[field.name] = found }
            case .toOne, .toMany: continue
            }
        }
        return elements
    }

    /// Whether two nested values are the same. One without values equals nil.
    func isSame(_ one: CompositeValue?, _ other: CompositeValue?) -> Bool {
        return zip(fields, zip(values(of: one), values(of: other))).allSatisfy { field, values in
            guard case .composite(let inner) = field.kind else { return values.0 == values.1 }
            return inner.isSame(values.0?.composite, values.1?.composite)
        }
    }

    /// Whether a nested value that this plan encoded is the same as the values of a row, in the order of the
    /// fields.
    func isSame(_ encoded: CompositeValue?, _ elements: ContiguousArray<StoredValue>) -> Bool {
        guard let values = encoded?.valuesInOrder, values.count == elements.count else {
            return zip(values(of: encoded), elements).allSatisfy { $0 == $1 }
        }
        return fields.indices.allSatisfy { index in
            guard case .composite(let inner) = fields[index].kind else { return values[index] == elements[index] }
            return inner.isSame(values[index].composite, elements[index].composite)
        }
    }

    /// The values by field; nil where one is of another kind.
    func values(of composite: CompositeValue?) -> ContiguousArray<StoredValue?> {
        let elements = composite?.elements ?? [:]
        return ContiguousArray(
            fields.map { field in
                let element = elements[field.name]
                switch field.kind {
                case .attribute(let kind): return StoredValue(element, kind)
                case .json: return StoredValue(element, .data)
                case .composite:
                    return (element as? [String: Any]).map { .object(CompositeValue($0)) } ?? .null
                case .toOne, .toMany: return .null
                }
            })
    }
}

extension StoredValue {
    /// The nested value in a stored value; nil for none.
    var composite: CompositeValue? {
        guard case .object(let object) = self else { return nil }
        return object as? CompositeValue
    }
}
