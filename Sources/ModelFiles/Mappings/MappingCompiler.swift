import Foundation
import KeyedArchives

/// Compiles mapping models, as Xcode does: an `.xcmappingmodel` becomes a `.cdm`.
package enum MappingCompiler {
    /// The content of the compiled file. Both versions of the model are found by the paths in the source.
    ///
    /// - Parameter url: the `.xcmappingmodel`.
    /// - Returns: the content of the `.cdm`.
    /// - Throws: an error in the Cocoa domain that names the file and its defect.
    package static func compiledData(ofSource url: URL) throws -> Data {
        let source = try MappingSourceReader.source(at: url)
        let models = try source.mappedModels(for: url)
        return try ModelFileError.naming(MappingSourceReader.file(url)) {
            let mappings = try MappingSourceCompiler.documents(
                of: source, from: models.source, to: models.destination)
            return try MappingArchiveWriter.archive(of: mappings).data()
        }
    }
}
