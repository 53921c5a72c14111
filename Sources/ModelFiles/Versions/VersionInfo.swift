import Foundation

/// `VersionInfo.plist`, a `.momd`'s information about its versions: the current one, and the version hashes that the
/// compiling tool computed.
package struct VersionInfo: Equatable, Sendable {
    package static let fileName = "VersionInfo.plist"

    /// The file name, without extension, of the current version.
    package var currentVersionName: String?
    /// The version hashes of the entities, by version and entity.
    package var versionHashes: [String: [String: Data]] = [:]
    /// A digest of each version.
    package var checksums: [String: String] = [:]
    /// Whether the hashes are Pippin's own, which distinguish the versions but are not those of Core Data.
    package var hashesAreOurs = false
    private static let ownHashesKey = "PippinVersionHashes"

    package init() {}

    /// Reads the file; a binary or XML property list.
    package init(data: Data) throws {
        guard let list = try PropertyList(data: data) else {
            throw ModelFileError(.corrupt, reason: "it is not a property list")
        }
        guard let fields = list.dictionaryValue else {
            throw ModelFileError(.corrupt, reason: "it is \(list.kind), not a dictionary")
        }
        currentVersionName = fields["NSManagedObjectModel_CurrentVersionName"]?.stringValue
        for (version, hashes) in fields["NSManagedObjectModel_VersionHashes"]?.dictionaryValue ?? [:] {
            versionHashes[version] = hashes.dictionaryValue?.compactMapValues(\.dataValue)
        }
        hashesAreOurs = fields[Self.ownHashesKey] != nil
        checksums =
            fields["NSManagedObjectModel_VersionChecksums"]?.dictionaryValue?.compactMapValues(\.stringValue) ?? [:]
    }

    package func data() throws -> Data {
        var fields: [String: PropertyList] = [
            "NSManagedObjectModel_VersionHashes": .dictionary(
                versionHashes.mapValues { .dictionary($0.mapValues(PropertyList.data)) }),
            "NSManagedObjectModel_VersionChecksums": .dictionary(checksums.mapValues(PropertyList.string)),
        ]
        if let currentVersionName {
            fields["NSManagedObjectModel_CurrentVersionName"] = .string(currentVersionName)
        }
        if hashesAreOurs { fields[Self.ownHashesKey] = .integer(1) }
        return try PropertyList.dictionary(fields).binaryData()
    }
}
