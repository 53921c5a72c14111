import CoreDataModel
import Foundation

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

// Errors of migrations that fail because of a store's file.
extension MigrationError {
    /// The error of a migration by SQL, if SQLite or the file system failed.
    package static func statements(
        url: URL, from source: NSManagedObjectModel, to destination: NSManagedObjectModel, _ error: any Error
    ) -> NSError {
        failed(
            error, url: url, from: version(source, sibling: destination), to: version(destination),
            step: "The step in place",
            userInfo: ["sourceModel": source, "destinationModel": destination])
    }

    /// - Returns: an error with the cause's domain, code and user info.
    package static func failed(
        _ error: any Error, url: URL, from source: String, to destination: String, step: String,
        userInfo: [String: Any]
    ) -> NSError {
        var cause = error as NSError
        // The versions and the step are only named once.
        if cause.userInfo["sourceModel"] != nil, let inner = cause.userInfo[NSUnderlyingErrorKey] as? NSError {
            cause = inner
        }
        var info = cause.userInfo.merging(userInfo) { $1 }
        info[NSURLErrorKey] = url
        info[NSFilePathErrorKey] = url.path
        info[NSUnderlyingErrorKey] = cause
        let outcome = isUncertain(cause) ? "The store is whole, of the old version or the new one." : asItWas
        // A sentence about the store in the cause is replaced by that of the step.
        let reason = cause.localizedDescription.replacing(" " + asItWas, with: "")
        info[NSLocalizedDescriptionKey] =
            "The store “\(url.lastPathComponent)” cannot be migrated from \(source) to \(destination). \(step) failed: "
            + "\(reason) \(outcome)"
        if isOutOfSpace(cause) {
            info[NSLocalizedRecoverySuggestionErrorKey] =
                "Make room: the migration needs up to \(neededBytes(url)) bytes beside the store for a while."
        } else if info[NSLocalizedRecoverySuggestionErrorKey] == nil {
            info[NSLocalizedRecoverySuggestionErrorKey] = "Correct what the step says, and migrate the store again."
        }
        return NSError(domain: cause.domain, code: cause.code, userInfo: info)
    }

    /// The last sentence of an error about a store whose migration failed.
    static let asItWas = "The store is as it was."

    /// Whether it is unknown if the store's last commit succeeded.
    private static func isUncertain(_ error: NSError) -> Bool {
        error.userInfo[StoreError.uncertaintyKey] as? Bool == true
            || (error.userInfo[NSUnderlyingErrorKey] as? NSError).map(isUncertain) ?? false
    }

    private static func isOutOfSpace(_ error: NSError) -> Bool {
        if error.domain == NSCocoaErrorDomain, error.code == CocoaError.Code.fileWriteOutOfSpace.rawValue {
            return true
        }
        if error.domain == NSPOSIXErrorDomain, error.code == Int(ENOSPC) || error.code == Int(EDQUOT) { return true }
        return (error.userInfo[NSUnderlyingErrorKey] as? NSError).map(isOutOfSpace) ?? false
    }

    /// The space for the stores before and after a step, and for the log with which the last one replaces the original.
    private static func neededBytes(_ url: URL) -> Int64 {
        let (folder, name) = (url.deletingLastPathComponent(), url.lastPathComponent)
        // Files that cannot be inspected are ignored in this estimate.
        let files = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter {
            $0 == name || $0.hasPrefix(name + "-")
        }
        let sizes = files.map { file -> Int64 in
            let attributes = try? FileManager.default.attributesOfItem(
                atPath: folder.appendingPathComponent(file).path)
            return (attributes?[.size] as? NSNumber)?.int64Value ?? 0
        }
        return 3 * sizes.reduce(0, +)
    }
}

/// The problem with objects that do not fit the new model.
package struct MigrationViolation: Equatable, Sendable {
    package var entity: String
    package var property: String?
    package var isRelationship = false
    package var reason: String

    package init(entity: String, property: String? = nil, isRelationship: Bool = false, reason: String) {
        (self.entity, self.property, self.isRelationship, self.reason) = (entity, property, isRelationship, reason)
    }

    package static let missingAttribute = "Validation error missing attribute values on mandatory destination attribute"
    package static let missingRelationship =
        "Validation error missing objects of a mandatory destination relationship"
    /// Several objects of a relationship that keeps one.
    package static let severalOwners =
        "Several objects lead to the same one, and the destination relationship keeps one of them only"
    package static let notInConfiguration = "The store has objects of an entity that its configuration no longer has"
    package static let replacedEntity = "The store has objects of an entity whose name another one takes"
    package static let abstractEntity = "The store has objects of an entity that is abstract in the destination model"
    package static let outOfRange = "A value does not fit the type of the destination attribute"
}

/// The description of a model's version in messages: by its identifiers, or else the name of its file, or else its
/// checksum.
package struct VersionDescription {
    /// `version “4”`, `version “Model 4” of “Model.momd”`, `the version with the checksum “…”`
    let text: String

    /// - Parameters:
    ///   - model: the version to describe.
    ///   - sibling: another version of the same model, whose package may contain this one: a model that was read from a
    ///     store has no file.
    package init(_ model: NSManagedObjectModel, sibling: NSManagedObjectModel? = nil) {
        if let named = Self.text(identifiers: model.versionIdentifiers.compactMap { $0.base as? String }) {
            text = named
        } else if let origin = model.origin ?? sibling.flatMap({ Self.origin(of: model, besides: $0) }) {
            text = "version “\(origin.versionName)” of “\(origin.package.lastPathComponent)”"
        } else {
            text = Self.text(checksum: model.versionChecksum)
        }
    }

    /// - Parameter metadata: a store's metadata.
    package init(_ metadata: [String: Any]) {
        let identifiers = metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? []
        let checksum =
            metadata[NSPersistentStoreModelVersionChecksumKey] as? String
            ?? VersionHash.checksum(of: StoreMetadata.hashes(in: metadata))
        text = Self.text(identifiers: identifiers) ?? Self.text(checksum: checksum)
    }

    /// The text, and the checksum if the text does not contain it already.
    package func text(with checksum: String) -> String {
        text.contains(checksum) ? text : "\(text), with the checksum “\(checksum)”"
    }

    private static func text(identifiers: [String]) -> String? {
        let named = identifiers.filter { !$0.isEmpty }.sorted()
        return named.isEmpty ? nil : "version “\(named.joined(separator: ", "))”"
    }

    private static func text(checksum: String) -> String { "the version with the checksum “\(checksum)”" }

    private static func origin(
        of model: NSManagedObjectModel, besides sibling: NSManagedObjectModel
    ) -> NSManagedObjectModel.Origin? {
        guard let url = sibling.origin?.package, let package = try? ModelPackage(at: url) else { return nil }
        let name = package.versions.lazy.map(\.name).first { name in
            // A version that cannot be read is not the one.
            (try? package.model(version: name)).map { $0.isSameVersion(as: model) } ?? false
        }
        return name.map { NSManagedObjectModel.Origin(package: url, versionName: $0) }
    }
}
