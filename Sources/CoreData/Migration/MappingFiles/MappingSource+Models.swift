import Foundation

extension MappingSource {
    /// The models that a source names, found where the project has them: the path as it is recorded, or its last parts, in
    /// the folder of the file or one above it.
    ///
    /// - Parameter url: the `.xcmappingmodel`.
    /// - Throws: an error in the Cocoa domain that names the path that leads nowhere.
    package func models(
        for url: URL
    ) throws -> (source: NSManagedObjectModel, destination: NSManagedObjectModel) {
        let file = MappingSourceReader.file(url)
        return try ModelFileError.naming(file) {
            (
                try Self.model(modelPaths.source, "source", beside: url),
                try Self.model(modelPaths.destination, "destination", beside: url)
            )
        }
    }

    private static func model(_ path: String?, _ side: String, beside url: URL) throws -> NSManagedObjectModel {
        guard let path else { throw ModelFileError(reason: "it does not say where its \(side) model is") }
        let parts = path.split(separator: "/").map(String.init)
        var folder = url.standardizedFileURL.deletingLastPathComponent()
        for _ in 0..<16 {
            for start in parts.indices {
                let candidate = parts[start...].reduce(folder) { $0.appendingPathComponent($1) }
                if FileManager.default.fileExists(atPath: candidate.path) {
                    return try ModelPackage(at: candidate).model()
                }
            }
            if folder.path == "/" { break }
            folder.deleteLastPathComponent()
        }
        throw ModelFileError(
            .missing, reason: "its \(side) model, “\(path)”, is neither in its folder nor in one above it")
    }
}
