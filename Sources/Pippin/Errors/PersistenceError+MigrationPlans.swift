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

    package static func unknownEntity(_ entity: String, version: String, known: [String]) -> PersistenceError {
        PersistenceError(
            .unknownEntity, entity: entity, known: known.sorted(),
            "The migration plan's version '\(version)' has no entity '\(entity)'. "
                + "It has: \(known.sorted().joined(separator: ", ")).")
    }
}
