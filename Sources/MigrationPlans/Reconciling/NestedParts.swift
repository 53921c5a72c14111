import CompactCollections
import CoreDataModel

/// The parts of a nested value that has columns of its own, by their keys in JSON.
package struct NestedParts: Equatable, Sendable, Codable {
    /// By key; with the parts of a nested value within, and nil for a single value.
    package let members: [String: NestedParts?]

    package init(members: [String: NestedParts?]) { self.members = members }

    /// The parts of a composite attribute.
    init(_ elements: [PropertyDocument]) {
        var members: [String: NestedParts?] = [:]
        for element in elements where element.userInfo[NestedValueInfo.mark] == nil {
            let inner = element.attribute?.elements ?? []
            var key = element.name
            if case .string(let name)? = element.userInfo[NestedValueInfo.key] { key = name }
            members[key] = .some(inner.isEmpty ? nil : NestedParts(inner))
        }
        self.members = members
    }
}
