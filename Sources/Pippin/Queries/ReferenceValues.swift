import StoreSession

/// What a predicate in memory has asked for, and no reference knows.
final class UnknownReads {
    private(set) var first: (entity: String, property: String)?

    fileprivate func note(_ property: String, of entity: String) { first = first ?? (entity, property) }
}

/// A model behind a reference, for predicates in memory: its identifier. What else is asked for is noted.
final class ReferenceValues: NSObject {
    private let entity: String
    private let uidKey: String
    private let uid: Any
    private let unknown: UnknownReads

    init(entity: String, uidKey: String, uid: Any, _ unknown: UnknownReads) {
        (self.entity, self.uidKey, self.uid, self.unknown) = (entity, uidKey, uid, unknown)
    }

    private func known(_ key: String) -> Any? {
        if key == uidKey { return uid }
        unknown.note(key, of: entity)
        return nil
    }

}

extension ReferenceValues: KeyValueCoding {
    func value(forKey key: String) -> Any? { known(key) }
}
