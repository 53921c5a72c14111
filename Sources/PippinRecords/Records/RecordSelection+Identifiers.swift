import CoreData
import Pippin

extension RecordSelection {
    /// The record with an identifier.
    static func uid(_ uid: some UniqueIdentifier, key: String) -> RecordSelection {
        .key(uid.attributeValue, named: key)
    }

    /// The records with one of some identifiers.
    static func uids(_ uids: some Sequence<some UniqueIdentifier>, key: String) -> RecordSelection {
        .keys(uids.map(\.attributeValue), named: key)
    }
}
