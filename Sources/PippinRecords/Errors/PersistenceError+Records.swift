import CoreData
import Pippin

// Errors of records.
extension PersistenceError {
    package static func unknownUidKey(_ key: String, entity: String, known: [String]) -> PersistenceError {
        PersistenceError(
            .unknownUidKey, entity: entity, property: key, known: known.sorted(),
            "The entity '\(entity)' has no attribute '\(key)' to find records by. "
                + "Its attributes: \(known.sorted().joined(separator: ", ")). Set uidKey to the one that is unique.")
    }

    package static func wrongRecordClass(entity: String, expected: String, found: String) -> PersistenceError {
        PersistenceError(
            .wrongRecordClass, entity: entity,
            "Objects of the entity '\(entity)' are '\(found)', not '\(expected)'. "
                + "Set the entity's class in the model to '\(expected)'.")
    }

    package static func noContext(entity: String) -> PersistenceError {
        PersistenceError(
            .noContext, entity: entity,
            "This record of the entity '\(entity)' is in no context. Insert it, or fetch it, with one.")
    }

    package static func notConvertible(entity: String, uid: String) -> PersistenceError {
        PersistenceError(
            .notConvertible, entity: entity, identifier: uid,
            "The \(entity) '\(uid)' becomes no model: its init?(record:) gives nil.")
    }

    package static func noWork(operation: String) -> PersistenceError {
        PersistenceError(
            .noWork,
            "'\(operation)' has nothing to do. Override performWork(in:), or performChanges(in:) of a ChangesetOperation, without "
                + "calling super; or make it with a closure.")
    }
}

extension PersistenceError.Code {
    /// The entity has no attribute with the name of its records' identifier.
    public static let unknownUidKey = Self("unknownUidKey")
    /// The entity's objects are of another class.
    public static let wrongRecordClass = Self("wrongRecordClass")
    /// A record has no context.
    public static let noContext = Self("noContext")
    /// A record cannot be converted to a model.
    public static let notConvertible = Self("notConvertible")
    /// An operation has no work to do.
    public static let noWork = Self("noWork")
}
