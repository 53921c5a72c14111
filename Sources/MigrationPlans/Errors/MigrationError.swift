import CompactCollections
import CoreDataModel
import Foundation
import Ordering

/// The errors of migrations, with Core Data's codes and user info keys.
package enum MigrationError {
    /// The description of a model; see ``VersionDescription``.
    package static func version(_ model: NSManagedObjectModel, sibling: NSManagedObjectModel? = nil) -> String {
        VersionDescription(model, sibling: sibling).text
    }

    /// The name of a version without a file: from the model's identifiers.
    package static func name(of model: NSManagedObjectModel) -> String {
        let identifiers = model.versionIdentifiers.compactMap { $0.base as? String }.filter { !$0.isEmpty }.sorted()
        return identifiers.isEmpty
            ? model.origin?.versionName ?? "the model's version" : identifiers.joined(separator: ", ")
    }

    /// The description of a store's version.
    static func version(_ metadata: [String: Any]) -> String { VersionDescription(metadata).text }

    /// 134130: no model of the store's version was found.
    ///
    /// - Parameters:
    ///   - url: the location of the store.
    ///   - metadata: the store's metadata, with the versions of its entities.
    ///   - unread: the parts of the store's copy of its model that could not be read.
    ///   - claimed: the join tables whose pairs a version would lose that has all other tables of the store.
    /// - Returns: the error, which lists the versions that were searched.
    package static func missingSourceModel(
        url: URL, metadata: [String: Any], unread: [String] = [], claimed: [String] = []
    ) -> NSError {
        let copy =
            unread.isEmpty
            ? "it has no copy of its model, \(version(metadata)), "
            : "of its copy of its model, \(version(metadata)), \(unread.joined(separator: ", ")) could not be read, "
        let others =
            claimed.isEmpty
            ? ""
            : " A version has all other tables of the store, but no relationship for the pairs in "
                + "\(claimed.sorted().joined(separator: ", ")), which may be those of one that the new model has."
        return StoreError.make(
            CoreDataErrorCode.migrationMissingSourceModel,
            "The store “\(url.lastPathComponent)” cannot be migrated: \(copy)"
                + "and no bundle has that model.\(others)", url: url,
            suggestion: "Ship the model that the store was made with, as a version of the model package.",
            userInfo: ["reason": "Can't find model for source store", "URL": url, "metadata": metadata])
    }

    /// 134140: there is no mapping model, and none can be inferred.
    package static func missingMappingModel(
        url: URL, source: NSManagedObjectModel, destination: NSManagedObjectModel, underlying: (any Error)?
    ) -> NSError {
        let cause = (underlying as NSError?)?.localizedDescription ?? "Inferring one was not asked for."
        return StoreError.make(
            CoreDataErrorCode.migrationMissingMappingModel,
            "The store “\(url.lastPathComponent)” cannot be migrated from \(version(source, sibling: destination)) to "
                + "\(version(destination)): there is no mapping model for this step. \(cause)", url: url,
            suggestion: "Add a mapping model to the bundle, or set NSInferMappingModelAutomaticallyOption.",
            underlying: underlying,
            userInfo: [
                "reason": "Can't find or automatically infer mapping model for migration", "sourceModel": source,
                "destinationModel": destination,
            ])
    }

    /// 134090: somebody else has written to the store.
    package static func changed(_ url: URL) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreTimeout,
            "The store “\(url.lastPathComponent)” was changed by another process while it was migrated.",
            url: url, suggestion: "Migrate it again; what the other process saved is migrated then, too.")
    }

    /// 134110: the objects do not fit the new model; 134111 if a constraint is violated.
    package static func inPlace(
        url: URL, from source: String, to destination: String, reason: String, code: Int = CoreDataErrorCode.migration,
        underlying: NSError, advice: String
    ) -> NSError {
        StoreError.make(
            code,
            "The store “\(url.lastPathComponent)” cannot be migrated from \(source) to \(destination): "
                + "\(underlying.localizedDescription) \(asItWas)", url: url,
            suggestion: advice,
            underlying: underlying,
            userInfo: [
                "reason": "Cannot migrate store in-place: \(reason)", "sourceURL": url, "destinationURL": url,
            ])
    }

    /// Advice about objects that do not fit the new model.
    package static func advice(_ violation: MigrationViolation) -> String {
        let place = "“\(violation.entity).\(violation.property ?? "")”"
        switch violation.reason {
        case MigrationViolation.missingAttribute:
            return
                "Give the attribute \(place) a default value or make it optional, or write a mapping model for this step."
        case MigrationViolation.missingRelationship:
            return "Make the relationship \(place) optional, or write a mapping model for this step that sets it."
        case MigrationViolation.outOfRange:
            return "Give the attribute \(place) a type that its values fit, or write a mapping model for this step."
        case MigrationViolation.severalOwners:
            return
                "Make the relationship \(place) to-many on both sides, keep the former relationship, or write a mapping "
                + "model for this step that says which object stays."
        case MigrationViolation.notInConfiguration:
            return
                "Add the entity “\(violation.entity)” to the store's configuration, or move its objects to another store "
                + "before this step."
        case MigrationViolation.replacedEntity:
            return "Delete the objects of “\(violation.entity)” before, or give the other entity another name."
        case MigrationViolation.abstractEntity:
            return
                "Write a mapping model for this step that makes objects of a subentity of “\(violation.entity)” of them, "
                + "or delete them before."
        default: return "Write a mapping model for this step."
        }
    }

    /// The problem with the objects of an entity, as the underlying error of a migration.
    ///
    /// - Parameters:
    ///   - violation: the problem.
    ///   - key: the key of the first object that has it.
    ///   - value: that object's value, where the problem is one of a value.
    /// - Returns: the error.
    package static func violation(_ violation: MigrationViolation, key: Int64?, value: String? = nil) -> NSError {
        let reason = violation.reason + (value.map { ": \($0)" } ?? "")
        var info: [String: Any] = ["entity": violation.entity, "reason": reason]
        var place = violation.entity
        if let property = violation.property {
            info[violation.isRelationship ? "relationship" : "attribute"] = property
            place += "." + property
        }
        let object = violation.reason == MigrationViolation.severalOwners ? key.map { " leads to p\($0)" } ?? "" : ""
        info[NSLocalizedDescriptionKey] = "\(reason) (“\(place)”\(object))."
        return NSError(domain: NSCocoaErrorDomain, code: CoreDataErrorCode.migration, userInfo: info)
    }
}
