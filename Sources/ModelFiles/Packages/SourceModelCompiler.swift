import Foundation
import KeyedArchives

/// Compiles source models, as Apple's `momc` does: an `.xcdatamodeld` becomes a `.momd` with a `.mom` per version, and
/// an `.xcdatamodel` outside of one a `.mom`.
package enum SourceModelCompiler {
    /// A remark on a model that was compiled.
    package struct Remark {
        /// The version's file.
        package let file: URL
        package let line: Int?
        package let message: String
    }

    /// Compiles a model: the current version, and those of the others that can be compiled.
    ///
    /// - Parameters:
    ///   - source: an `.xcdatamodeld` or `.xcdatamodel`.
    ///   - destination: the `.momd` to write, or a `.mom` with the current version alone; it is replaced once
    ///     everything is compiled.
    ///   - moduleName: the module for classes of the “current product module”.
    ///   - className: the name under which a class is found at run time, for its name in the model.
    /// - Returns: what was left out, with the reason: versions that cannot be compiled, and values without meaning for
    ///   a store.
    /// - Throws: an error in the Cocoa domain naming file, line, entity and property if the current version cannot be
    ///   compiled; nothing is written then.
    @discardableResult
    package static func compileModel(
        at source: URL, to destination: URL, moduleName: String? = nil, className: (String) -> String = { $0 }
    ) throws -> [Remark] {
        let package = try ModelPackage(at: source)
        var info = VersionInfo()
        let currentName = try package.currentVersionName
        info.currentVersionName = currentName
        info.hashesAreOurs = true
        var files: [String: Data] = [:]
        var remarks: [Remark] = []
        for version in package.versions {
            do {
                let document = try checkedDocument(of: package, version, moduleName: moduleName, className: className)
                files["\(version.name).mom"] = try compiledData(of: document, file: version.url)
                let hashes = VersionHash.hashes(of: document)
                info.versionHashes[version.name] = hashes
                info.checksums[version.name] = VersionHash.checksum(of: hashes)
                remarks += try package.sourceWarnings(version: version.name).map {
                    Remark(file: ModelPackage.file(of: version), line: $0.line, message: $0.text)
                }
            } catch let error as NSError where version.name != currentName {
                remarks.append(leftOut(version, error))
            }
        }
        if destination.pathExtension == "mom", let data = files["\(currentName).mom"] {
            try ModelFileError.naming(destination) {
                try FileManager.default.createDirectory(
                    at: destination.deletingLastPathComponent(), withIntermediateDirectories: true)
                try data.write(to: destination, options: .atomic)
            }
            return remarks
        }
        files[VersionInfo.fileName] = try info.data()
        try ModelFileError.naming(destination) { try ModelFolder.write(files, to: destination) }
        return remarks
    }

    /// The remark on a version that cannot be compiled. The others are compiled regardless: only stores of that version
    /// cannot be migrated.
    private static func leftOut(_ version: ModelPackage.Version, _ error: NSError) -> Remark {
        let file = ModelPackage.file(of: version)
        var reason = error.localizedDescription
        // The file is named separately from the message.
        for start in ["“\(file.path)”: ", "“\(file.path)”, "] where reason.hasPrefix(start) {
            reason.removeFirst(start.count)
        }
        return Remark(
            file: file, line: error.userInfo["line"] as? Int,
            message: "the version “\(version.name)” is left out of the compiled model: \(reason)")
    }

    /// A version of the model whose names were all checked, with the run-time names of its classes.
    private static func checkedDocument(
        of package: ModelPackage, _ version: ModelPackage.Version, moduleName: String?, className: (String) -> String
    ) throws -> ModelDocument {
        var document = try package.document(version: version.name, moduleName: moduleName)
        try ModelPackage.check(document, of: version)
        for position in document.entities.indices {
            let name = className(document.entities[position].className ?? "NSManagedObject")
            document.entities[position].className = name == "NSManagedObject" ? nil : name
            for index in document.entities[position].properties.indices {
                document.entities[position].properties[index].mapValueClasses { name in
                    name.hasPrefix(".") ? (moduleName ?? "") + name : className(name)
                }
            }
        }
        return document
    }

    /// The content of a `.mom` file.
    package static func compiledData(of document: ModelDocument, file: URL? = nil) throws -> Data {
        try ModelFileError.naming(file) { try ModelArchiveWriter.archive(of: document, form: .compiled).data() }
    }
}
