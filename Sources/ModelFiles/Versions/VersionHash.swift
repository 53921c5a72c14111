import CompactCollections
import Foundation
import Ordering

/// Pippin's own version hashes, for models that carry none of Apple's. Apple's algorithm is not public.
///
/// A version hash covers what programs that share a store must agree on, as documented by Core Data and confirmed by
/// 450 versions of entities with Apple's hashes. For an entity: its name, its parent's version hash, whether it is
/// abstract, its version hash modifier, its uniqueness constraints and its stored properties, including inherited ones.
/// For a property: its name, whether it is optional or read-only, its modifier, and its kind: an attribute's type, and
/// whether the history preserves its values; a relationship's destination, inverse, counts and order. Pippin's hashes
/// also cover what the rows and triggers of a store depend on: whether an attribute's values may be stored externally,
/// which the column then says, and how a derived attribute is computed. Without a migration, such a store would be read
/// wrongly. Transient properties, delete rules, classes, value transformers, user info, defaults, validation, indexes
/// and fetched properties are not covered. The hash is SHA-256 over these facts as text.
package enum VersionHash {
    /// The metadata key, for a store with Apple's hashes that were read from a file, for Pippin's hashes of the store's
    /// copy of its model, by entity. Never written.
    package static let ownHashesOfStoreKey = "PippinModelHashes"

    /// The hash of a property.
    package static func hash(of property: VersionedProperty) -> Data {
        var text = CanonicalText()
        append(property, to: &text)
        return Data(SHA256.hash(text.bytes))
    }

    /// The hash of an entity.
    package static func hash(of entity: VersionedEntity) -> Data {
        var text = CanonicalText()
        text.append("entity", entity.name)
        text.append("parent", entity.parentName)
        if let hash = entity.parentHash { text.append("parentHash", hash.base64EncodedString()) }
        text.append("abstract", entity.isAbstract)
        text.append("modifier", entity.versionHashModifier)
        for property in entity.properties where property.isStored { append(property, to: &text) }
        for constraint in entity.uniquenessConstraints.map({ $0.ordered(by: <) }).ordered(by: {
            $0.lexicographicallyPrecedes($1)
        }) {
            text.append("unique", constraint.count)
            for name in constraint { text.append("attribute", name) }
        }
        return Data(SHA256.hash(text.bytes))
    }

    /// A digest over version hashes, in Base64: SHA-256 of the concatenated hashes, in the order of the entities'
    /// names. The checksums that Apple's tools put into `VersionInfo.plist` are made in the same way.
    package static func checksum(of hashes: [String: Data]) -> String {
        let bytes = hashes.ordered { $0.key < $1.key }.reduce(into: Data()) { $0 += $1.value }
        return Data(SHA256.hash([UInt8](bytes))).base64EncodedString()
    }

    /// The digest of version hashes in a store's metadata (`NSStoreModelVersionHashesDigest`), in Base64: SHA-512 of
    /// the entities' names, each with its hash after it, in the order of the names. So it is in all of Apple's stores
    /// that have one.
    package static func digest(of hashes: [String: Data]) -> String {
        let bytes = hashes.ordered { $0.key < $1.key }.reduce(into: [UInt8]()) { $0 += Array($1.key.utf8) + $1.value }
        return Data(SHA512.hash(bytes)).base64EncodedString()
    }

    private static func append(_ property: VersionedProperty, to text: inout CanonicalText) {
        switch property.kind {
        case .attribute(let attribute):
            text.append("attribute", property.name)
            text.append("type", attribute.type.rawValue)
            text.append("readOnly", attribute.isDerived)
            // Appended only if present, so that most hashes equal those of earlier builds.
            if let derivation = attribute.derivation { text.append("derivation", derivation) }
            if attribute.allowsExternalStorage { text.append("external", true) }
            if attribute.preservesValueOnDeletion { text.append("preserved", true) }
            for element in attribute.elements {
                text.append("element of", property.name)
                append(element, to: &text)
            }
        case .relationship(let relationship):
            text.append("relationship", property.name)
            text.append("destination", relationship.destinationName)
            text.append("inverse", relationship.inverseName)
            text.append("minimum", relationship.minCount)
            // A number below 1 means no bound.
            text.append("maximum", max(relationship.maxCount, 0))
            // Not part of the hash; the constant keeps its place in the text, so that most hashes equal those of
            // earlier builds.
            text.append("deleteRule", NSDeleteRule.nullifyDeleteRule.rawValue)
            text.append("ordered", relationship.isOrdered)
        case .fetched: return
        }
        text.append("optional", property.isOptional)
        text.append("transient", property.isTransient)
        text.append("modifier", property.versionHashModifier)
    }
}

/// Facts as text, written so that no two lists of facts give the same text: every value is preceded by its length.
private struct CanonicalText {
    private(set) var bytes: [UInt8] = Array("Pippin version hash 1\n".utf8)

    mutating func append(_ key: String, _ value: String?) {
        bytes += "\(key.utf8.count):\(key)=".utf8
        // A missing value and the empty string differ.
        if let value { bytes += "\(value.utf8.count):\(value)".utf8 }
        bytes.append(UInt8(ascii: "\n"))
    }

    mutating func append(_ key: String, _ value: Bool) { append(key, value ? "YES" : "NO") }

    mutating func append(_ key: String, _ value: some BinaryInteger) { append(key, "\(value)") }
}
