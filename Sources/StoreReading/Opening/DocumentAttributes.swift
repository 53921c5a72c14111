import CoreData
import ModelFiles

/// The attributes of a derived model, by the paths in a file. Pure.
enum DocumentAttributes {
    /// The attributes of paths that have their first name in common: `home.city` and `home.street` are elements of a
    /// composite attribute. Paths that no composite attribute has are attributes of these names.
    static func properties(_ types: [String: NSAttributeType]) -> [PropertyDocument] {
        let most = DocumentCheck.maximumCompositeDepth + 1
        let members = types.map { path, type in
            let keys = path.split(separator: ".", maxSplits: most, omittingEmptySubsequences: false)
            return Member(keys: keys.map(String.init)[...], type: type)
        }
        if members.allSatisfy({ $0.keys.count <= most && !$0.keys.contains("") }),
            let name = members.first?.keys.first, let attribute = attribute(members.map(\.inner))
        {
            return [optional(name, .attribute(attribute))]
        }
        return types.sorted { $0.key < $1.key }.map { path, type in
            optional(path, .attribute(AttributeDocument(type: readable(type))))
        }
    }

    private struct Member {
        let keys: ArraySlice<String>
        let type: NSAttributeType

        var inner: Member { Member(keys: keys.dropFirst(), type: type) }
    }

    /// - Returns: nil if one of the paths ends where another one goes on.
    private static func attribute(_ members: [Member]) -> AttributeDocument? {
        if members.count == 1, members[0].keys.isEmpty { return AttributeDocument(type: readable(members[0].type)) }
        guard members.allSatisfy({ !$0.keys.isEmpty }) else { return nil }
        var composite = AttributeDocument(type: .compositeAttributeType)
        let groups = Dictionary(grouping: members) { $0.keys.first ?? "" }
        for (name, group) in groups.sorted(by: { $0.key < $1.key }) {
            guard let element = attribute(group.map(\.inner)) else { return nil }
            composite.elements.append(optional(name, .attribute(element)))
        }
        return composite
    }

    /// The types that a file may name, and no value has, are those of texts.
    private static func readable(_ type: NSAttributeType) -> NSAttributeType {
        [.undefinedAttributeType, .objectIDAttributeType, .compositeAttributeType].contains(type)
            ? .stringAttributeType : type
    }

    /// A property that may be without a value, with its name in the file.
    static func optional(_ name: String, _ kind: PropertyDocument.Kind) -> PropertyDocument {
        var property = PropertyDocument(name: name, kind: kind)
        property.isOptional = true
        StoredNames.record(name, in: &property)
        return property
    }
}
