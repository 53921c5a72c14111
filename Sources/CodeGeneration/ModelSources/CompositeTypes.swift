import Foundation
import ModelFiles

/// The composite types of a model, which the editor lists beside the entities. Compiled models have no names for them:
/// in these, each attribute has elements of its own.
struct CompositeTypes {
    struct Definition: Equatable {
        let name: String
        let elements: [PropertyDocument]
    }

    /// The model, in which every composite attribute names its type.
    private(set) var document: ModelDocument
    private(set) var definitions: [Definition] = []

    init(of document: ModelDocument) {
        self.document = document
        for entity in document.entities.indices {
            for property in document.entities[entity].properties.indices {
                self.document.entities[entity].properties[property] = named(
                    document.entities[entity].properties[property])
            }
        }
    }

    private mutating func named(_ property: PropertyDocument) -> PropertyDocument {
        guard case .attribute(var attribute) = property.kind, attribute.type == .compositeAttributeType else {
            return property
        }
        let elements = attribute.elements.map { named($0) }
        let wanted = attribute.compositeName ?? property.name.prefix(1).uppercased() + property.name.dropFirst()
        attribute.compositeName = define(wanted, elements)
        attribute.elements = elements
        var result = property
        result.kind = .attribute(attribute)
        return result
    }

    /// The name of a type with these elements: the wanted one, with a number if a type with other elements has it.
    private mutating func define(_ wanted: String, _ elements: [PropertyDocument]) -> String {
        var name = wanted
        var number = 1
        while let other = definitions.first(where: { $0.name == name }) {
            if other.elements == elements { return name }
            number += 1
            name = "\(wanted)\(number)"
        }
        definitions.append(Definition(name: name, elements: elements))
        return name
    }
}
