import Foundation

/// Finds the place in a source of what an error names. Errors that are found in the model as a whole have no element of
/// the file at hand.
enum SourcePlaces {
    /// - Parameters:
    ///   - entity: the entity's name; nil for a part of the model that is in no entity.
    ///   - property: the property's name, or the key path of an element of it; nil for the entity itself.
    ///   - part: the part of the model, if there is no entity.
    ///   - contents: the bytes of the file `contents`.
    /// - Returns: the line, from 1; of several with the name that of the last, which is one too many. Nil if the file
    ///   has none.
    static func line(
        ofEntity entity: String?, property: String?, part: ModelFileError.Part? = nil, in contents: Data
    ) -> Int? {
        guard let root = try? SourceElement.root(of: contents) else { return nil }
        guard let entity else {
            return part.flatMap { part in root.children(named: part.element).last { $0.string("name") == part.name } }?
                .line
        }
        let entities = root.children(named: "entity").filter { $0.string("name") == entity }
        let properties = entities.flatMap(\.children).filter { Self.properties.contains($0.name) }
        let found = property.flatMap { property in
            properties.last { $0.string("name") == property }
                ?? properties.last { $0.string("name") == property.firstKey }
        }
        return (found ?? entities.last)?.line
    }

    private static let properties: Set = ["attribute", "composite", "relationship", "fetchedProperty"]
}
