import CoreData

/// Why stores cannot be migrated by a plan. The store is as it was.
public enum MigrationPlanError: Error, Equatable {
    /// Two versions share their name.
    case repeatedVersion(String)
    /// A version's model cannot be had.
    case unavailableVersion(String, reason: String)
    /// Nothing can be inferred between two versions.
    case notInferable(from: String, to: String, entity: String, property: String?, reason: String)
    /// A step names an entity that the version before it, or after it, does not have.
    case unknownEntity(String, version: String, known: [String])
    /// The last version is not what the manager works with.
    case notTheManagersModel(last: String, manager: String)
    /// The store is of none of the versions.
    case unknownStoreVersion(store: String, known: [String])
    /// A step failed at an object.
    case failedAt(entity: String, record: String, from: String, to: String, reason: String)
}

extension MigrationPlanError: LocalizedError, CustomStringConvertible {
    /// What happened, and what to do about it.
    public var errorDescription: String? { description }

    /// What happened, and what to do about it.
    public var description: String {
        switch self {
        case .repeatedVersion(let name):
            return "The migration plan has two versions '\(name)'. Give each a name of its own."
        case .unavailableVersion(let name, let reason):
            return "The migration plan's version '\(name)' cannot be used: \(reason)"
        case .notInferable(let from, let to, let entity, let property, let reason):
            let place = property.map { "\(entity).\($0)" } ?? entity
            return "The step from version '\(from)' to '\(to)' cannot be inferred, because of '\(place)': \(reason). "
                + "Use changing(to:_:) with a closure for '\(entity)', or mapped(to:by:)."
        case .unknownEntity(let entity, let version, let known):
            return "The migration plan's version '\(version)' has no entity '\(entity)'. "
                + "It has: \(known.sorted().joined(separator: ", "))."
        case .notTheManagersModel(let last, let manager):
            return
                "The migration plan ends with version '\(last)', which differs from what the persistence manager '\(manager)' "
                + "works with. Add a step to the present models."
        case .unknownStoreVersion(let store, let known):
            return
                "The store '\(store)' is of none of the migration plan's versions: \(known.joined(separator: ", ")). "
                + "Add the version that it was made with."
        case .failedAt(let entity, let record, let from, let to, let reason):
            return "The step from version '\(from)' to '\(to)' failed at the \(entity) '\(record)': \(reason) "
                + "The store is as it was."
        }
    }
}
