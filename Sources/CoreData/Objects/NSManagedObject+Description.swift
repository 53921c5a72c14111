import Foundation

extension NSManagedObject {
    /// Class and address, entity, ID and values, in Core Data's form. Nothing is read from a store for it.
    final func describedValues() -> String {
        "\(DescriptionText.head(of: self)) (entity: \(layout.name); id: \(Self.text(of: identifier)); "
            + "data: \(isFault && values.isEmpty ? "<fault>" : describedProperties()))"
    }

    private func describedProperties() -> String {
        var lines: [(key: String, text: String)] = layout.slots.indices.map { slot in
            (layout.slots[slot].name, DescriptionText.quoted(describedValue(at: slot)))
        }
        lines += layout.toManys.map { ($0.name, describedMembers($0)) }
        let data = lines.sorted { $0.key < $1.key }.map { "    \(DescriptionText.quoted($0.key)) = \($0.text);\n" }
        return "{\n\(data.joined())}"
    }

    private func describedValue(at slot: Int) -> String {
        switch layout.slots[slot].kind {
        case .attribute(let attribute):
            return values[slot].objectValue(for: attribute).map { UnacceptableValue.text(of: $0) } ?? "nil"
        case .toOne:
            guard case .identifier(let identifier) = values[slot] else { return "nil" }
            return Self.text(of: identifier)
        }
    }

    private func describedMembers(_ relationship: RelationshipLayout) -> String {
        let members = toManyMembersIfAny(relationship)
        // A new object has no members in a store.
        guard members?.isLoaded ?? state.contains(.inserted) else {
            return DescriptionText.quoted("<relationship fault: '\(relationship.name)'>")
        }
        let all = members?.all ?? []
        let objects = relationship.isOrdered ? all : Self.inOrder(all)
        let identifiers = objects.map { "\n        \(DescriptionText.quoted(Self.text(of: $0.identifier)))" }
        return "(\(identifiers.joined(separator: ","))\n    )"
    }

    /// The ID's address and URI.
    private static func text(of identifier: NSManagedObjectID) -> String {
        "0x\(String(UInt(bitPattern: ObjectIdentifier(identifier)), radix: 16)) <\(identifier.description)>"
    }
}
