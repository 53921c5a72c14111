import Foundation

// The errors of migrations over several versions, and of those that make a new store.
extension MigrationError {
    /// 134130: the store is of an unknown version, most likely a later one.
    static func unknownVersion(
        url: URL, metadata: [String: Any], known: [KnownVersion], unread: [(name: String, reason: String)] = []
    ) -> NSError {
        StoreError.make(
            CoreDataErrorCode.migrationMissingSourceModel,
            "The store “\(url.lastPathComponent)” cannot be migrated: it is of "
                + "\(VersionDescription(metadata).text(with: checksum(metadata))), which is none of the known versions \(names(known)). "
                + (unread.isEmpty
                    ? "It may have been written by a newer version of the application." : sentence(unread)),
            url: url,
            suggestion: "Update the application, or ship the model that the store was made with.",
            userInfo: ["reason": "Can't find model for source store", "URL": url, "metadata": metadata])
    }

    /// 134506: the store is of a later version than the wanted one.
    static func backward(url: URL, from source: KnownVersion, to destination: KnownVersion) -> NSError {
        StoreError.make(
            NSStagedMigrationBackwardMigrationError,
            "The store “\(url.lastPathComponent)” cannot be migrated: it is of the version “\(source.name)”, which is later "
                + "than “\(destination.name)”, the one to get to. A newer version of the application has written it.",
            url: url, suggestion: "Update the application.",
            userInfo: ["sourceModel": source.model, "destinationModel": destination.model])
    }

    /// 134140: no steps lead from one version to the other.
    static func noChain(url: URL, from source: KnownVersion, to destination: KnownVersion, known: KnownVersions)
        -> NSError
    {
        var obstacle = "The direct step can be inferred."
        var underlying: NSError?
        do { _ = try MappingInference.plan(from: source.model, to: destination.model) } catch {
            underlying = error as NSError
            obstacle = (error as NSError).localizedDescription
        }
        let mappings = known.mappings.isEmpty ? "there are none" : known.mappings.map(\.name).joined(separator: ", ")
        return StoreError.make(
            CoreDataErrorCode.migrationMissingMappingModel,
            "The store “\(url.lastPathComponent)” cannot be migrated from “\(source.name)” to “\(destination.name)”: no chain of "
                + "steps leads there. \(obstacle) The known versions are \(shortNames(known.versions)) (mapping models: "
                + "\(mappings))."
                + (known.unread.isEmpty ? "" : " " + sentence(known.unread)), url: url,
            suggestion: "Add a mapping model, or a version of the model between the two.",
            underlying: underlying,
            userInfo: [
                "reason": "Can't find or automatically infer mapping model for migration",
                "sourceModel": source.model, "destinationModel": destination.model,
            ])
    }

    /// 134140: the steps of a plan do not connect.
    static func disjoint(url: URL, _ first: ChainStep, _ second: ChainStep) -> NSError {
        StoreError.make(
            CoreDataErrorCode.migrationMissingMappingModel,
            "The plan for “\(url.lastPathComponent)” has a gap: a step ends with the version “\(first.destination.name)”, and the "
                + "next begins with “\(second.source.name)”.", url: url,
            suggestion: "Begin each step with the version that the one before it ends with.")
    }

    /// 134090: the store is no longer of the version for which the plan was made.
    static func changed(url: URL, _ step: ChainStep) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreTimeout,
            "The store “\(url.lastPathComponent)” is not of the version “\(step.source.name)” any more: another process has "
                + "migrated it meanwhile.", url: url, suggestion: "Look at its version again.")
    }

    /// The error of a step, with the versions and advice.
    static func step(_ index: Int, of migration: ProgressiveMigration, _ error: any Error) -> NSError {
        let (first, last) = (migration.steps[0].source, migration.steps[migration.steps.count - 1].destination)
        return failed(
            error, url: migration.url, from: "the version “\(first.name)”", to: "“\(last.name)”",
            step: "Step \(index + 1) of \(migration.steps.count) (\(migration.steps[index].description))",
            userInfo: ["step": index + 1, "sourceModel": first.model, "destinationModel": last.model])
    }

    /// The error of a migration by a mapping model.
    static func mapped(
        url: URL, from source: NSManagedObjectModel, to destination: NSManagedObjectModel, _ error: any Error
    ) -> NSError {
        failed(
            error, url: url, from: version(source, sibling: destination), to: version(destination),
            step: "The step by the mapping model",
            userInfo: ["sourceModel": source, "destinationModel": destination])
    }

    private static func checksum(_ metadata: [String: Any]) -> String {
        metadata[NSPersistentStoreModelVersionChecksumKey] as? String
            ?? VersionHash.checksum(of: StoreMetadata.hashes(in: metadata))
    }

    /// `The version “3” cannot be read: ….`
    private static func sentence(_ unread: [(name: String, reason: String)]) -> String {
        unread.map { "The version “\($0.name)” cannot be read: \($0.reason)" }.joined(separator: " ")
    }

    private static func names(_ versions: [KnownVersion]) -> String {
        versions.map { "“\($0.name)”" }.joined(separator: ", ")
    }

    /// The same, with the first and the last of many.
    private static func shortNames(_ versions: [KnownVersion]) -> String {
        guard versions.count > 8 else { return names(versions) }
        return "\(names(Array(versions.prefix(3)))), … \(names(Array(versions.suffix(3)))), \(versions.count) in all"
    }
}
