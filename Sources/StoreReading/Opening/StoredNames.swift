import CoreData

/// The names that the properties of a derived model have in the store: such a model is not the one that the store was
/// made with, and its properties are found by both names.
enum StoredNames {
    private static let key = "PippinStoredName"

    static func record(_ name: String, in property: inout PropertyDocument) { property.userInfo[key] = .string(name) }

    /// The property's name for a key as it was typed, if it is the name in the store, in whichever case; otherwise the
    /// key.
    static func resolved(_ typed: String, in entity: EntityLayout) -> String {
        let all = entity.selfAndSubentities
        if all.contains(where: { $0.propertyByName[typed] != nil }) { return typed }
        let folded = typed.lowercased()
        for candidate in all {
            for (name, property) in candidate.description.propertiesByName
            where (property.userInfo?[key] as? String)?.lowercased() == folded {
                return name
            }
        }
        return typed
    }

    /// The names of the properties on a path.
    static func resolved(_ keys: [String], in entity: EntityLayout) -> [String] {
        var current: EntityLayout? = entity
        return keys.map { key in
            guard let here = current, !key.hasPrefix("@") else { return key }
            let name = resolved(key, in: here)
            current = here.selfAndSubentities.lazy.compactMap { $0.relationship(named: name)?.destination }.first
            return name
        }
    }
}
