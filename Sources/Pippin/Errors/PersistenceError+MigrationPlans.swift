import CompactCollections
import CoreData
import Ordering

// Errors of migration plans.
extension PersistenceError {
    package static func repeatedVersion(_ name: String) -> PersistenceError {
        PersistenceError(
            .repeatedVersion,
            "The migration plan has two versions '\(name)'. Give each a name of its own.")
    }

    package static func unavailableVersion(_ name: String, reason: String) -> PersistenceError {
        PersistenceError(
            .unavailableVersion, reason: reason,
            "The migration plan's version '\(name)' cannot be used: \(reason)")
    }

    /// `isAttribute` says whether a closure can take care of it.
    package static func notInferable(
        from: String, to: String, entity: String, property: String?, reason: String, isAttribute: Bool
    ) -> PersistenceError {
        let way = isAttribute ? "changing(to:_:) with a closure for '\(entity)', or mapped(to:by:)" : "mapped(to:by:)"
        let place = property.map { "\(entity).\($0)" } ?? entity
        return PersistenceError(
            .notInferable, entity: entity, property: property, reason: reason,
            "The step from version '\(from)' to '\(to)' cannot be inferred, because of '\(place)': \(reason). "
                + "Use \(way).")
    }

    package static func repeatedChange(entity: String, from: String, to: String) -> PersistenceError {
        PersistenceError(
            .repeatedChange, entity: entity,
            "The step from version '\(from)' to '\(to)' has two changes for '\(entity)', and each of its objects goes through one. "
                + "Make one change of them, or add a version in between.")
    }

    package static func notTheManagersModel(last: String, manager: String) -> PersistenceError {
        PersistenceError(
            .notTheManagersModel,
            "The migration plan ends with version '\(last)', which differs from what the persistence manager '\(manager)' "
                + "works with. Add a step to the present models.")
    }

    package static func unknownStoreVersion(store: String, known: [String]) -> PersistenceError {
        PersistenceError(
            .unknownStoreVersion, path: store, known: known,
            "The store '\(store)' is of none of the migration plan's versions: \(known.joined(separator: ", ")). "
                + "Add the version that it was made with.")
    }

    package static func failedAt(entity: String, record: String, from: String, to: String, reason: String)
        -> PersistenceError
    {
        PersistenceError(
            .migrationFailed, entity: entity, identifier: record, reason: reason,
            "The step from version '\(from)' to '\(to)' failed at the \(entity) '\(record)': \(reason) "
                + "The store is as it was.")
    }

    /// The error for a step after which models would share values that must be unique.
    ///
    /// - Returns: the error; nil if the step failed for another reason.
    static func notUnique(_ error: any Error, store: String, from: String, to: String) -> PersistenceError? {
        let cocoa = error as NSError
        let step = "The step from version '\(from)' to '\(to)' would leave"
        let advice =
            "Have a step `changing(to:)` make them different, or change the store with a manager of version '\(from)'. "
            + "The store is as it was."
        if let conflicts = cocoa.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict],
            let first = conflicts.first
        {
            let entity = (first.conflictingObjects.first ?? first.databaseObject)?.entity.name ?? ""
            let properties = first.constraint.joined(separator: ", ")
            let examples = conflicts.filter { $0.constraint == first.constraint }.prefix(5).map { conflict in
                conflict.constraint.map { "\(conflict.constraintValues[$0] ?? "nil")" }.joined(separator: ", ")
            }
            return PersistenceError(
                .notUnique, entity: entity, property: properties, path: store, known: examples, underlying: error,
                "\(step) several '\(entity)' with the same \(properties), which is to be unique: "
                    + "\(examples.joined(separator: "; ")). \(advice)")
        }
        guard cocoa.domain == NSCocoaErrorDomain, cocoa.code == NSMigrationConstraintViolationError else { return nil }
        let reason = (cocoa.userInfo[NSUnderlyingErrorKey] as? NSError ?? cocoa).localizedDescription
        return PersistenceError(
            .notUnique, path: store, reason: reason, underlying: error,
            "\(step) models with the same values where these are to be unique. \(reason) \(advice)")
    }

    package static func unknownEntity(_ entity: String, version: String, known: [String]) -> PersistenceError {
        PersistenceError(
            .unknownEntity, entity: entity, known: known.sorted(),
            "The migration plan's version '\(version)' has no entity '\(entity)'. "
                + "It has: \(known.sorted().joined(separator: ", ")). If one of these takes its place, the schema of that one "
                + "says so: Schema(.renamed(from: \"\(entity)\")).")
    }
}
