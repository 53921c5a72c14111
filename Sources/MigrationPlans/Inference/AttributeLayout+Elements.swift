import CompactCollections
import CoreDataModel

extension AttributeLayout {
    /// The names that the elements of a composite attribute had in another version of it, by their present names.
    package func elementSources(in former: AttributeLayout) -> [String: String] {
        RenamingMatch.attributeSources(
            of: elements.map(\.description.renameable), in: former.elements.map(\.description.renameable))
    }
}
