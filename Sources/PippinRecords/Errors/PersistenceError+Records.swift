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

extension PersistenceError {
    /// The error for a save that Core Data refused: which models, which properties, and why.
    init(saving error: any Error, _ registry: ModelRegistry) {
        let details = (error as NSError).userInfo[NSDetailedErrorsKey] as? [NSError] ?? [error as NSError]
        self.init(saving: error, details.flatMap { Self.failures($0, registry) })
    }

    private static func failures(_ error: NSError, _ registry: ModelRegistry) -> [SaveFailure] {
        func failure(_ object: NSManagedObject, _ key: String?, _ reason: String) -> SaveFailure {
            SaveFailure(
                entity: object.entity.name ?? "", identifier: registry.identifier(of: object), property: key,
                reason: reason)
        }
        if let object = error.userInfo[NSValidationObjectErrorKey] as? NSManagedObject {
            let key = error.userInfo[NSValidationKeyErrorKey] as? String
            let deleted =
                error.code == NSValidationMissingMandatoryPropertyError ? key.flatMap(object.deletedObject(at:)) : nil
            let reason = deleted.map { deleted in
                let entity = deleted.entity.name ?? ""
                let name = registry.identifier(of: deleted).map { "the \(entity) '\($0)'" } ?? "the \(entity)"
                return "It is required, and \(name) would be deleted. "
                    + "Delete the \(object.entity.name ?? "") as well, or save it with another \(entity) first."
            }
            return [failure(object, key, reason ?? error.localizedDescription)]
        }
        switch error.userInfo[NSPersistentStoreSaveConflictsErrorKey] {
        case let conflicts as [NSMergeConflict]:
            return conflicts.map { failure($0.sourceObject, nil, "It was changed by somebody else in the meantime.") }
        case let conflicts as [NSConstraintConflict]:
            return conflicts.flatMap { conflict in
                let stored = conflict.databaseObject.flatMap { registry.identifier(of: $0) }
                let entity = conflict.databaseObject?.entity.name ?? ""
                let values = conflict.constraint.count == 1 ? "the same value" : "the same values"
                let reason = "\(stored.map { "The \(entity) '\($0)'" } ?? "Another one") has \(values) already."
                return conflict.conflictingObjects.map {
                    failure($0, conflict.constraint.joined(separator: ", "), reason)
                }
            }
        default: return []
        }
    }
}

extension ModelRegistry {
    fileprivate func identifier(of object: NSManagedObject) -> String? {
        let entity = object.entity
        let keys = [identifierName(of: entity.name ?? ""), entity.uniqueKey, "uid", "id"].compactMap { $0 }
        guard let key = keys.first(where: { entity.attributesByName[$0] != nil }) else { return nil }
        return object.value(forKey: key).map { "\($0)" }
    }
}

extension NSManagedObject {
    /// The object at the end of a relationship to one, if it is about to be deleted.
    fileprivate func deletedObject(at key: String) -> NSManagedObject? {
        guard entity.relationshipsByName[key]?.isToMany == false,
            let former = committedValues(forKeys: [key])[key] as? NSManagedObject, former.isDeleted
        else { return nil }
        return former
    }
}

extension NSEntityDescription {
    /// The attribute that distinguishes the records by itself.
    fileprivate var uniqueKey: String? {
        uniquenessConstraints.lazy.filter { $0.count == 1 }.compactMap { $0.first as? String }.first
    }
}
