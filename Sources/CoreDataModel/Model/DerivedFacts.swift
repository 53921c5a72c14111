import Foundation

/// Values computed from the descriptions of a model, and kept until one of these changes: version hashes, the entities
/// by name, and the text by which models are compared.
final class DerivedFacts: @unchecked Sendable {
    // @unchecked Sendable: all variables are guarded by the lock.

    private let lock = NSLock()
    private var known = Facts()
    private var isEmpty = true
    private var computations = 0

    struct Facts {
        var ownHashes: [ObjectIdentifier: Data] = [:]
        var versionHashes: [String: Data]?
        var entities: [String: NSEntityDescription]?
        var text: ModelText?
    }

    /// The entities by name, if they are known.
    var entities: [String: NSEntityDescription]? { locked { known.entities } }

    /// The version hashes by entity, if they are known.
    var versionHashes: [String: Data]? { locked { known.versionHashes } }

    /// The text by which the model is compared, if it is known.
    var text: ModelText? { locked { known.text } }

    /// How many entities have been hashed since the model was made, for tests.
    var hashCount: Int { locked { computations } }

    /// Our version hash of an entity, if it is known.
    func ownHash(of entity: NSEntityDescription) -> Data? { locked { known.ownHashes[ObjectIdentifier(entity)] } }

    func keep(ownHash hash: Data, of entity: NSEntityDescription) {
        locked {
            computations += 1
            isEmpty = false
            known.ownHashes[ObjectIdentifier(entity)] = hash
        }
    }

    func keep(_ change: (inout Facts) -> Void) {
        locked {
            isEmpty = false
            change(&known)
        }
    }

    /// Forgets everything. Every change of a description in the model calls this.
    func forget() {
        locked {
            guard !isEmpty else { return }
            known = Facts()
            isEmpty = true
        }
    }

    private func locked<Result>(_ work: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return work()
    }
}

extension NSManagedObjectModel {
    /// The entities by name, collected once.
    var derivedEntitiesByName: [String: NSEntityDescription] {
        if let known = derived.entities { return known }
        let byName = Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        // An entity that another model took over reports its changes to that model.
        if entities.allSatisfy({ $0.model === self }) { derived.keep { $0.entities = byName } }
        return byName
    }

    /// The version hashes by entity, computed once.
    var derivedVersionHashes: [String: Data] {
        if let known = derived.versionHashes { return known }
        let hashes = entitiesByName.mapValues(\.versionHash)
        if hearsOfAllChanges { derived.keep { $0.versionHashes = hashes } }
        return hashes
    }

    /// The text by which the model is compared, written once.
    var derivedText: ModelText {
        if let known = derived.text { return known }
        let text = ModelText(self)
        if hearsOfAllChanges { derived.keep { $0.text = text } }
        return text
    }

    /// Whether all descriptions that it refers to report their changes to this model.
    private var hearsOfAllChanges: Bool {
        entities.allSatisfy { $0.model === self && $0.refersOnly(to: self) }
    }
}

extension NSEntityDescription {
    /// Our own version hash, even if a file contains Apple's. It is computed once if all changes are reported to the
    /// model.
    package var ownVersionHash: Data {
        guard let model else { return VersionHash.hash(of: self) }
        if let known = model.derived.ownHash(of: self) { return known }
        let hash = VersionHash.hash(of: self)
        if refersOnly(to: model) { model.derived.keep(ownHash: hash, of: self) }
        return hash
    }

    /// Whether all entities that the hash depends on, ancestors and destinations, belong to one model.
    fileprivate func refersOnly(to model: NSManagedObjectModel) -> Bool {
        var ancestor = superentity
        while let current = ancestor {
            guard current.model === model else { return false }
            ancestor = current.superentity
        }
        return propertiesByName.values.allSatisfy { property in
            guard let destination = (property as? NSRelationshipDescription)?.destinationEntity else { return true }
            return destination.model === model
        }
    }
}
