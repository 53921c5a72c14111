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
            let document = try checkedDocument(of: package, version, moduleName: moduleName, className: className)
            files["\(version.name).mom"] = try compiledData(of: document, file: version.url)
            let hashes = VersionHash.hashes(of: document)
            info.versionHashes[version.name] = hashes
            info.checksums[version.name] = VersionHash.checksum(of: hashes)
        }
        files[VersionInfo.fileName] = try info.data()
        try ModelFileError.naming(destination) { try ModelFolder.write(files, to: destination) }
    }

    /// A version of the model, in which every name leads somewhere, with the names that its classes have at run time.
    private static func checkedDocument(
        of package: ModelPackage, _ version: ModelPackage.Version, moduleName: String?, className: (String) -> String
    ) throws -> ModelDocument {
        var document = try package.document(version: version.name, moduleName: moduleName)
        try ModelFileError.naming(version.url.appendingPathComponent("contents")) {
            try DocumentCheck.check(document)
        }
        for position in document.entities.indices {
            let name = className(document.entities[position].className ?? "NSManagedObject")
            document.entities[position].className = name == "NSManagedObject" ? nil : name
        }
        return document
    }

    /// The content of a `.mom` file.
    package static func compiledData(of document: ModelDocument, file: URL? = nil) throws -> Data {
        try ModelFileError.naming(file) { try ModelArchiveWriter.archive(of: document, form: .compiled).data() }
    }
}
