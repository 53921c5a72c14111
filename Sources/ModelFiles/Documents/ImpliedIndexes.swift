import CompactCollections
import Foundation

extension ModelDocument {
    /// The model with the indexes that follow from properties marked as “indexed”, and from compound indexes of the
    /// time before fetch indexes: in addition to the listed indexes, Core Data makes one with the property's name, or
    /// with the properties' names joined by `_`.
    package var withImpliedIndexes: ModelDocument {
        var result = self
        let names = entities.allSatisfy(\.compoundIndexes.isEmpty) ? [] : propertyNames
        for position in result.entities.indices {
            let entity = result.entities[position]
            let compound = entity.impliedCompoundIndexes.filter { $0.isMade(of: names[position]) }
            // A compound index of one “indexed” property is the index that the mark makes.
            var known = Set(entity.indexes.map(\.name))
            let implied = (entity.impliedIndexes + compound).filter { known.insert($0.name).inserted }
            result.entities[position].indexes.insert(contentsOf: implied, at: 0)
        }
        return result
    }

    /// The model without the indexes that follow from marks, as a compiled model keeps it.
    package var withoutImpliedIndexes: ModelDocument {
        var result = self
        for position in result.entities.indices {
            let implied = result.entities[position].impliedIndexes
            result.entities[position].indexes.removeAll { implied.contains($0) }
        }
        return result
    }

    /// Removes the indexes that name what their entity does not have. Losing an index loses no data, whereas a store
    /// whose copy of its model is refused cannot be read.
    package mutating func forgetLostIndexes() {
        let names = propertyNames
        for position in entities.indices { entities[position].indexes.removeAll { !$0.isMade(of: names[position]) } }
    }

    /// The names of the properties of each entity, inherited ones included, at its place.
    private var propertyNames: [Set<String>] {
        let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        return entities.map { entity in
            var names = Set(entity.properties.map(\.name))
            // The inheritance may not have been checked yet, and be circular.
            var seen: Set<String> = [entity.name]
            var parent = entity.parentName.flatMap { byName[$0] }
            while let current = parent, seen.insert(current.name).inserted,
                seen.count <= DocumentCheck.maximumInheritance
            {
                names.formUnion(current.properties.map(\.name))
                parent = current.parentName.flatMap { byName[$0] }
            }
            return names
        }
    }
}

extension IndexDocument {
    fileprivate func isMade(of names: Set<String>) -> Bool {
        elements.compactMap(\.propertyName).allSatisfy { names.contains($0.firstKey) }
    }
}

extension EntityDocument {
    fileprivate var impliedIndexes: [IndexDocument] {
        properties.filter(\.isIndexed).map { property in
            IndexDocument(name: property.name, elements: [IndexElementDocument(.property(property.name))])
        }
    }

    /// The compound indexes whose properties no fetch index of the entity covers.
    fileprivate var impliedCompoundIndexes: [IndexDocument] {
        compoundIndexesBesideFetchIndexes.filter { !$0.isEmpty }.map { names in
            IndexDocument(
                name: names.joined(separator: "_"), elements: names.map { IndexElementDocument(.property($0)) })
        }
    }

    /// The compound indexes for which there is no fetch index over the same properties.
    package var compoundIndexesBesideFetchIndexes: [[String]] {
        // Apple's compiler lists partial indexes, too, and expressions by what they say (“self”, “entity”).
        let listed = indexes.filter { $0.elements.count > 1 }.map { index in index.elements.map(\.propertyName) }
        return compoundIndexes.filter { names in
            !listed.contains { elements in
                elements.count == names.count && zip(elements, names).allSatisfy { $0 == nil || $0 == $1 }
            }
        }
    }
}
