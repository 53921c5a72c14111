import Foundation

/// The errors of migrations, with Core Data's codes and the keys that its errors have in their user info.
enum MigrationError {
    /// What is said of a model: its version identifiers, and the checksum that tells it apart.
    static func version(_ model: NSManagedObjectModel) -> String {
        version(identifiers: model.versionIdentifiers.compactMap { $0.base as? String }.sorted())
    }

    /// What a version is called that no file gives a name: by the model's identifiers.
    static func name(of model: NSManagedObjectModel) -> String {
        let identifiers = model.versionIdentifiers.compactMap { $0.base as? String }.filter { !$0.isEmpty }.sorted()
        return identifiers.isEmpty ? "the model's version" : identifiers.joined(separator: ", ")
    }

    /// What is said of a store's version.
    static func version(_ metadata: [String: Any]) -> String {
        version(identifiers: metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? [])
    }

    private static func version(identifiers: [String]) -> String {
        let named = identifiers.filter { !$0.isEmpty }
        return named.isEmpty ? "a version without identifier" : "version “\(named.joined(separator: ", "))”"
    }

    /// 134130: no model of the store's version is to be found.
    static func missingSourceModel(url: URL, metadata: [String: Any]) -> NSError {
        StoreError.make(
            CoreDataErrorCode.migrationMissingSourceModel,
            "The store “\(url.lastPathComponent)” cannot be migrated: it has no copy of its model, \(version(metadata)), "
                + "and no bundle has one.", url: url,
            suggestion: "Ship the model that the store was made with, as a version of the model package.",
            userInfo: ["reason": "Can't find model for source store", "URL": url, "metadata": metadata])
    }

    /// 134140: there is no mapping model, and none can be inferred.
    static func missingMappingModel(
        url: URL, source: NSManagedObjectModel, destination: NSManagedObjectModel, underlying: (any Error)?
    ) -> NSError {
        let cause = (underlying as NSError?)?.localizedDescription ?? "Inferring one was not asked for."
        return StoreError.make(
            CoreDataErrorCode.migrationMissingMappingModel,
            "The store “\(url.lastPathComponent)” cannot be migrated from \(version(source)) to \(version(destination)): "
                + "there is no mapping model for this step. \(cause)", url: url,
            suggestion: "Add a mapping model to the bundle, or set NSInferMappingModelAutomaticallyOption.",
            underlying: underlying,
            userInfo: [
                "reason": "Can't find or automatically infer mapping model for migration", "sourceModel": source,
                "destinationModel": destination,
            ])
    }

    /// 134090: somebody else has written to the store.
    static func changed(_ url: URL) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreTimeout,
            "The store “\(url.lastPathComponent)” was changed by another process while it was migrated.",
            url: url, suggestion: "Migrate it again; what the other process saved is migrated then, too.")
    }

    /// 134110: the objects do not fit the new model; 134111 where a constraint does not hold.
    static func inPlace(
        url: URL, from source: String, to destination: String, reason: String, code: Int = CoreDataErrorCode.migration,
        underlying: NSError
    ) -> NSError {
        StoreError.make(
            code,
            "The store “\(url.lastPathComponent)” cannot be migrated from \(source) to \(destination): "
                + "\(underlying.localizedDescription) The store is as it was.", url: url,
            suggestion: "Give the attribute a default value, or write a mapping model for this step.",
            underlying: underlying,
            userInfo: [
                "reason": "Cannot migrate store in-place: \(reason)", "sourceURL": url, "destinationURL": url,
            ])
    }

    /// What is wrong with the objects of an entity, as the underlying error of a migration.
    static func violation(_ violation: MigrationViolation) -> NSError {
        var info: [String: Any] = ["entity": violation.entity, "reason": violation.reason]
        var place = violation.entity
        if let property = violation.property {
            info[violation.isRelationship ? "relationship" : "attribute"] = property
            place += "." + property
        }
        info[NSLocalizedDescriptionKey] = "\(violation.reason) (“\(place)”)."
        return NSError(domain: NSCocoaErrorDomain, code: CoreDataErrorCode.migration, userInfo: info)
    }
}
