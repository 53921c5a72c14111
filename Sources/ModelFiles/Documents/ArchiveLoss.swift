import CompactCollections

/// A property of an archived model that could not be read, since its archive contains an object of an unknown class.
package struct ArchiveLoss: Equatable, Sendable {
    package let entity: String
    package let property: String
    /// The class that is not known.
    package let className: String

    /// `“Car.maker” (an object of the unknown class XYProperty)`
    package var text: String { "“\(entity).\(property)” (an object of the unknown class \(className))" }
}

extension ModelDocument {
    /// Removes references to properties that could not be read from inverses, constraints and indexes.
    mutating func forgetLostProperties() {
        guard !losses.isEmpty else { return }
        let names = Dictionary(grouping: losses, by: \.entity).mapValues { Set($0.map(\.property)) }
        let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        // Subentities lose the properties that their superentity lost.
        func lost(_ entity: EntityDocument) -> Set<String> {
            var missing: Set<String> = []
            var seen: Set<String> = []
            var next: EntityDocument? = entity
            // The inheritance has not been checked yet, and may be circular.
            while let current = next, seen.insert(current.name).inserted {
                missing.formUnion(names[current.name] ?? [])
                next = current.parentName.flatMap { byName[$0] }
            }
            return missing
        }
        for position in entities.indices {
            let missing = lost(entities[position])
            entities[position].uniquenessConstraints.removeAll { !missing.isDisjoint(with: $0) }
            entities[position].compoundIndexes.removeAll { !missing.isDisjoint(with: $0) }
            entities[position].indexes.removeAll { !missing.isDisjoint(with: $0.elements.compactMap(\.propertyName)) }
            for property in entities[position].properties.indices {
                guard var relationship = entities[position].properties[property].relationship,
                    let destination = relationship.destinationName.flatMap({ byName[$0] }),
                    let inverse = relationship.inverseName, lost(destination).contains(inverse)
                else { continue }
                relationship.inverseName = nil
                entities[position].properties[property].kind = .relationship(relationship)
            }
        }
    }
}
