import Foundation

extension ModelPackage {
    /// Reads one version as a value.
    ///
    /// - Parameters:
    ///   - name: the version; nil for the current one.
    ///   - moduleName: the module that the classes of the “current product module” belong to, for source files.
    /// - Throws: an error in the Cocoa domain that names file, line, entity and property.
    package func document(version name: String? = nil, moduleName: String? = nil) throws -> ModelDocument {
        let version = try version(named: name ?? currentVersionName)
        let file = Self.file(of: version)
        return try ModelFileError.naming(file) {
            guard let data = FileManager.default.contents(atPath: file.path) else {
                throw ModelFileError(.missing, reason: "it is missing or cannot be read")
            }
            return version.url.pathExtension == "mom"
                ? try ModelArchiveReader.document(of: data)
                : try SourceReader.document(of: data, moduleName: moduleName)
        }
    }

    /// Reads one version as a model, with the version hashes that the package has for it.
    ///
    /// - Throws: an error in the Cocoa domain that names file, line, entity and property.
    package func model(version name: String? = nil, moduleName: String? = nil) throws -> NSManagedObjectModel {
        let version = try version(named: name ?? currentVersionName)
        let document = try document(version: version.name, moduleName: moduleName)
        return try ModelFileError.naming(Self.file(of: version)) {
            let model = try ModelAssembler.model(document, versionHashes: recordedHashes(version: version.name))
            model.recordedVersionChecksum = info.hashesAreOurs ? nil : info.checksums[version.name]
            return model
        }
    }

    /// The version hashes that Apple's tools recorded for a version, by entity. Our own are none: they are computed
    /// anew, so that a model can say whose its hashes are.
    package func recordedHashes(version name: String) -> [String: Data] {
        info.hashesAreOurs ? [:] : info.versionHashes[name] ?? [:]
    }

    /// The first version whose entities have a store's version hashes; nil when there is none.
    ///
    /// - Parameters:
    ///   - metadata: the store's metadata.
    ///   - configuration: the configuration that the store holds.
    package func model(
        compatibleWith metadata: [String: Any], configuration: String? = nil
    ) throws -> NSManagedObjectModel? {
        let currentFirst = [currentVersionName] + versions.map(\.name).filter { $0 != currentVersionName }
        for name in currentFirst {
            let model = try model(version: name)
            if model.isConfiguration(withName: configuration, compatibleWithStoreMetadata: metadata) { return model }
        }
        return nil
    }

    private func version(named name: String) throws -> Version {
        guard let version = versions.first(where: { $0.name == name }) else {
            let known = versions.map(\.name).joined(separator: ", ")
            throw ModelFileError(.missing, reason: "there is no version “\(name)”; there are \(known)").nsError(
                file: url)
        }
        return version
    }

    private static func file(of version: Version) -> URL {
        version.url.pathExtension == "xcdatamodel" ? version.url.appendingPathComponent("contents") : version.url
    }
}
