/// The composite types of a source, from its `composite` elements beside the entities, for reading its attributes.
///
/// Each attribute gets elements of its own, so types that contain one another several times could need more of them
/// than memory holds. They are therefore counted.
final class CompositeDefinitions {
    private let definitions: [String: SourceElement]
    private var elementCount = 0
    /// Far more than the number of columns in a store's table.
    private static let maximumElements = 100_000

    init(in root: SourceElement) throws {
        var definitions: [String: SourceElement] = [:]
        for element in root.children where element.name == "composite" || element.name == "compositeAttribute" {
            let name = try element.requiredName(.init())
            guard definitions.updateValue(element, forKey: name) == nil else {
                throw element.error(.init(), "there are two composite attributes named “\(name)”")
            }
        }
        self.definitions = definitions
    }

    /// The definition of the type that an attribute names; `open` contains the enclosing types.
    func definition(
        _ name: String, of element: SourceElement, _ place: SourceElement.Place, open: [String]
    ) throws -> SourceElement {
        guard let found = definitions[name] ?? definitions[name.capitalized] else {
            throw element.error(place, "its composite type “\(name)” is not defined in the model")
        }
        guard !open.contains(name) else {
            throw element.error(place, "the composite type “\(name)” contains itself")
        }
        let most = DocumentCheck.maximumCompositeDepth
        guard open.count < most else {
            throw element.error(place, "composite types contain one another over more than \(most) levels")
        }
        return found
    }

    func count(_ elements: Int, in element: SourceElement, _ place: SourceElement.Place) throws {
        elementCount += elements
        guard elementCount <= Self.maximumElements else {
            throw element.error(
                place, "the composite attributes of the model have more than \(Self.maximumElements) elements in all")
        }
    }
}
