import Foundation

extension MappingSource {
    /// The models that a source names, found where the project has them: the path as it is recorded, or its last parts, in
    /// the folder of the file or one above it.
    ///
    /// - Parameter url: the `.xcmappingmodel`.
    /// - Returns: both versions of the model.
    /// - Throws: an error in the Cocoa domain that names the path that leads nowhere.
    package func mappedModels(
        for url: URL
    ) throws -> (source: MappedModel, destination: MappedModel) {
        let file = MappingSourceReader.file(url)
        return try ModelFileError.naming(file) {
            (
                try Self.model(modelPaths.source, "source", beside: url),
                try Self.model(modelPaths.destination, "destination", beside: url)
            )
        }
    }

    private static func model(_ path: String?, _ side: String, beside url: URL) throws -> MappedModel {
        guard let path else { throw ModelFileError(reason: "it does not say where its \(side) model is") }
        let parts = path.split(separator: "/").map(String.init)
        var folder = url.standardizedFileURL.deletingLastPathComponent()
        for _ in 0..<16 {
            for start in parts.indices {
                let candidate = parts[start...].reduce(folder) { $0.appendingPathComponent($1) }
                if FileManager.default.fileExists(atPath: candidate.path) {
                    return try MappedModel(ModelPackage(at: candidate))
                }
            }
            if folder.path == "/" { break }
            folder.deleteLastPathComponent()
        }
        throw ModelFileError(
            .missing, reason: "its \(side) model, “\(path)”, is neither in its folder nor in one above it")
    }
}

extension MappedModel {
    /// The current version of a model file.
    ///
    /// - Throws: an error in the Cocoa domain that names file, line, entity and property.
    init(_ package: ModelPackage) throws {
        let document = try package.document()
        try ModelFileError.naming(package.url) { try DocumentCheck.check(document) }
        let recorded = package.recordedHashes(version: package.currentVersionName)
        self.init(document, hashes: VersionHash.hashes(of: document).merging(recorded) { _, recorded in recorded })
    }
}
