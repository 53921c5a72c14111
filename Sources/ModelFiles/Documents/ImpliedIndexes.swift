import CompactCollections
import Foundation

extension ModelDocument {
    /// The model with the indexes that follow from properties marked as “indexed”, and from compound indexes of the
    /// time before fetch indexes: in addition to the listed indexes, Core Data makes one with the property's name, or
    /// with the properties' names joined by `_`.
    package var withImpliedIndexes: ModelDocument {
        var result = self
        for position in result.entities.indices {
            let entity = result.entities[position]
            let implied = entity.impliedIndexes + entity.impliedCompoundIndexes
            let known = Set(result.entities[position].indexes.map(\.name))
            result.entities[position].indexes.insert(contentsOf: implied.filter { !known.contains($0.name) }, at: 0)
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
        let listed = indexes.filter { $0.predicate == nil && $0.elements.count > 1 }.map { index in
            index.elements.compactMap(\.propertyName)
        }
        return compoundIndexes.filter { !listed.contains($0) }
    }
}
