import CoreData
import StoreEngine

/// The label of an object: the value of the attribute that names it, or its entity and number. Pure.
package enum ObjectLabel {
    private static let names = [
        "name", "title", "label", "fullName", "displayName", "lastName", "subject", "text", "identifier",
    ]
    private static let longest = 60

    /// The attribute that names objects of an entity.
    package static func slot(of entity: EntityLayout) -> Int? {
        func isText(_ slot: Int) -> Bool {
            entity.slots[slot].attribute?.type == .stringAttributeType && !entity.slots[slot].isTransient
        }
        if let named = names.lazy.compactMap({ entity.slotIndex(forName: $0) }).first(where: isText) { return named }
        return entity.slots.indices.first { isText($0) }
    }

    /// The name; nil if the object has none.
    package static func name(of row: Row) -> String? {
        guard let slot = slot(of: row.objectID.layout), row.values.indices.contains(slot),
            case .string(let text) = row.values[slot]
        else { return nil }
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        let trimmed = line.trimmingCharacters(in: .whitespaces)
        guard !trimmed.isEmpty else { return nil }
        return trimmed.count > longest ? trimmed.prefix(longest) + "…" : trimmed
    }

    package static func number(of identifier: NSManagedObjectID) -> String {
        "\(identifier.layout.name)/p\(identifier.key)"
    }

    /// The names of objects, without those that no longer exist.
    package static func names(of identifiers: [NSManagedObjectID], _ engine: any StoreEngine) throws
        -> [NSManagedObjectID: Row]
    {
        guard !identifiers.isEmpty else { return [:] }
        let rows = try engine.rows(for: Array(Set(identifiers)))
        return Dictionary(rows.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
    }
}
