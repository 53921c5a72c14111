import CompactCollections

extension EntityDocument {
    /// Adds what Apple's compiler records for the time before fetch indexes: an index over one attribute marks the
    /// attribute, and one over several properties is listed as a compound index.
    mutating func markIndexedProperties() {
        let positions = Dictionary(
            properties.indices.map { (properties[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
        for index in indexes where index.predicate == nil {
            let names = index.elements.compactMap(\.propertyName)
            guard names.count == index.elements.count else { continue }
            if names.count > 1 {
                if !compoundIndexes.contains(names) { compoundIndexes.append(names) }
            } else if let position = names.first.flatMap({ positions[$0] }), properties[position].attribute != nil {
                properties[position].isIndexed = true
            }
        }
    }
}
