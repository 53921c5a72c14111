import CompactCollections
import Ordering

/// Describes how the entities of a model differ from those of a store's copy of its model. Pure.
enum StructureDifference {
    /// An entity with the properties that differ: `Car (only in the model: createdBy; only in the store: maker)`. Only
    /// the name if there is no copy to compare with, or the properties are the same.
    ///
    /// - Parameters:
    ///   - name: the entity.
    ///   - entity: the model's entity; nil if it has none.
    ///   - stored: the store's entity; nil if it has none.
    /// - Returns: one line for a message.
    static func text(of name: String, _ entity: NSEntityDescription?, stored: NSEntityDescription?) -> String {
        guard let entity else { return "\(name) (only in the store)" }
        guard let stored else { return "\(name) (only in the model)" }
        let (new, old) = (hashes(of: entity), hashes(of: stored))
        let changed = new.keys.filter { old[$0] != nil && old[$0] != new[$0] }
        let parts = [
            ("only in the model", new.keys.filter { old[$0] == nil }),
            ("only in the store", old.keys.filter { new[$0] == nil }), ("different", changed),
        ]
        var phrases = parts.filter { !$0.1.isEmpty }.map { "\($0.0): \($0.1.sorted().joined(separator: ", "))" }
        if entity.superentity?.name != stored.superentity?.name { phrases.append("another parent") }
        if entity.isAbstract != stored.isAbstract {
            phrases.append(entity.isAbstract ? "abstract now" : "abstract before")
        }
        if entity.versionHashModifier != stored.versionHashModifier { phrases.append("another hash modifier") }
        return phrases.isEmpty ? name : "\(name) (\(phrases.joined(separator: "; ")))"
    }

    private static func hashes(of entity: NSEntityDescription) -> [String: [UInt8]] {
        let stored = entity.propertiesByName.filter { !($0.value is NSFetchedPropertyDescription) }
        return stored.mapValues { [UInt8](VersionHash.hash(of: $0)) }
    }
}
