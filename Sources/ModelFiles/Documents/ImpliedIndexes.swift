import Foundation

extension ModelDocument {
    /// The model with the indexes that the mark “indexed” of a property stands for: Core Data makes one of the
    /// property's name, besides those that the model lists.
    package var withImpliedIndexes: ModelDocument {
        var result = self
        for position in result.entities.indices {
            let implied = result.entities[position].impliedIndexes
            let known = Set(result.entities[position].indexes.map(\.name))
            result.entities[position].indexes.insert(contentsOf: implied.filter { !known.contains($0.name) }, at: 0)
        }
        return result
    }

    /// The model without them, as a compiled model keeps it.
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
}
