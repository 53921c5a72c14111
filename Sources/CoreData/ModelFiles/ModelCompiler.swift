import Foundation

/// Compiles source models, as Apple's `momc` does: an `.xcdatamodeld` becomes a `.momd` with a `.mom` a version.
package enum SourceModelCompiler {
    /// Compiles a model.
    ///
    /// - Parameters:
    ///   - source: an `.xcdatamodeld` or `.xcdatamodel`.
    ///   - destination: the `.momd` to write; what was there is replaced once everything is compiled.
    ///   - moduleName: the module of the classes that the model says belong to the current one.
    ///   - className: the name under which a class is found at run time, for its name in the model.
    /// - Throws: an error in the Cocoa domain naming file, line, entity and property; nothing is written then.
    package static func compileModel(
        at source: URL, to destination: URL, moduleName: String? = nil, className: (String) -> String = { $0 }
    ) throws {
        let package = try ModelPackage(at: source)
        var info = VersionInfo()
        info.currentVersionName = package.currentVersionName
        info.hashesAreOurs = true
        var files: [String: Data] = [:]
        for version in package.versions {
            let model = try package.model(version: version.name, moduleName: moduleName)
            for entity in model.entities { entity.managedObjectClassName = className(entity.managedObjectClassName) }
            files["\(version.name).mom"] = try compiledData(of: model, file: version.url)
            let hashes = model.entityVersionHashesByName
            info.versionHashes[version.name] = hashes
            info.checksums[version.name] = VersionHash.checksum(of: hashes)
        }
        files[VersionInfo.fileName] = try info.data()
        try ModelFileError.naming(destination) { try ModelFolder.write(files, to: destination) }
    }

    /// The content of a `.mom` file.
    package static func compiledData(of model: NSManagedObjectModel, file: URL? = nil) throws -> Data {
        try ModelFileError.naming(file) {
            try ModelArchiveWriter.archive(of: ModelDocument(model), form: .compiled).data()
        }
    }
}
