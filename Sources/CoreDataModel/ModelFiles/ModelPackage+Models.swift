import CompactCollections
import Foundation

extension ModelPackage {
    /// Reads one version as a model, with the package's version hashes.
    ///
    /// - Throws: an error in the Cocoa domain that names file, line, entity and property.
    package func model(version name: String? = nil, moduleName: String? = nil) throws -> NSManagedObjectModel {
        let version = try version(named: name ?? currentVersionName)
        let document = try document(version: version.name, moduleName: moduleName)
        return try ModelFileError.naming(Self.file(of: version)) {
            let model = try ModelAssembler.model(document, versionHashes: recordedHashes(version: version.name))
            model.origin = NSManagedObjectModel.Origin(package: url, versionName: version.name)
            model.recordedVersionChecksum = info.hashesAreOurs ? nil : info.checksums[version.name]
            return model
        }
    }

    /// Reads one version as a model, with the words of the strings file beside the package.
    ///
    /// - Throws: an error in the Cocoa domain that names file, line, entity and property.
    func localizedModel(version name: String? = nil) throws -> NSManagedObjectModel {
        let model = try model(version: name)
        model.localizationDictionary = ModelStrings.dictionary(beside: url)
        return model
    }

    /// The first version whose entities have a store's version hashes; nil if there is none.
    ///
    /// - Parameters:
    ///   - metadata: the store's metadata.
    ///   - configuration: the configuration of the store.
    /// - Returns: the model of that version.
    /// - Throws: the errors of reading the versions, with the file.
    package func model(
        compatibleWith metadata: [String: Any], configuration: String? = nil
    ) throws -> NSManagedObjectModel? {
        let names = versions.map(\.name)
        let currentFirst = names.filter(isCurrent) + names.filter { !isCurrent($0) }
        for name in currentFirst {
            let model = try model(version: name)
            if model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) { return model }
        }
        return nil
    }
}
