import CoreData

extension PersistenceError {
    /// The error for a save that Core Data refused: which models, which properties, and why.
    package init(saving error: any Error, _ registry: ModelRegistry) {
        let cocoa = error as NSError
        let details = cocoa.userInfo[NSDetailedErrorsKey] as? [NSError] ?? [cocoa]
        let failures = details.flatMap { Self.failures($0, registry) }
        if failures.isEmpty, let entity = cocoa.userInfo[StoreError.entityKey] as? String,
            let properties = cocoa.userInfo[StoreError.propertiesKey] as? [String]
        {
            self = .sameUniqueValues(entity, properties.joined(separator: ", "), error)
            return
        }
        self.init(
            Self.code(of: details), entity: failures.first?.entity, property: failures.first?.property,
            identifier: failures.first?.identifier, reason: failures.first?.reason ?? cocoa.localizedDescription,
            failures: failures, underlying: error, Self.sentence(failures, error))
    }

    /// The error for an update of many models, after which two would have the same unique values.
    private static func sameUniqueValues(_ entity: String, _ property: String, _ error: any Error) -> Self {
        let reason = "Two '\(entity)' would have the same \(property), which is to be unique."
        return Self(
            .conflict, entity: entity, property: property, reason: reason, underlying: error,
            "Nothing was saved. \(reason)")
    }

    private static func code(of errors: [NSError]) -> Code {
        let codes = errors.map(\.code)
        let conflicts = [
            NSManagedObjectMergeError, NSManagedObjectConstraintMergeError, NSPersistentStoreSaveConflictsError,
        ]
        if codes.contains(where: conflicts.contains) { return .conflict }
        let values = NSManagedObjectValidationError..<NSManagedObjectContextLockingError
        return codes.contains(where: values.contains) ? .invalid : .saveFailed
    }

    private static func sentence(_ failures: [SaveFailure], _ error: any Error) -> String {
        guard !failures.isEmpty else { return "Nothing was saved. \(error.localizedDescription)" }
        let lines = failures.prefix(5).map { failure in
            let identifier = failure.identifier.map { " '\($0)'" } ?? ""
            return "\(failure.entity)\(identifier)\(failure.property.map { ", \($0)" } ?? ""): \(failure.reason)"
        }
        let rest = failures.count > 5 ? " And \(failures.count - 5) more." : ""
        return "Nothing was saved. \(lines.joined(separator: " "))\(rest)"
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
        let keys = [plans.first { $0.name == entity.name }?.uidKey, entity.uniqueKey, "uid", "id"].compactMap { $0 }
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
