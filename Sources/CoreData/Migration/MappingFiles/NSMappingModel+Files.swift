import CompactCollections
import Foundation
import KeyedArchives
import Ordering

extension NSMappingModel {
    /// Reads a compiled mapping model, `.cdm`. Unlike Apple's, it also reads a source, `.xcmappingmodel`, whose models
    /// are found by the paths in it. Nil if the file cannot be read, as in Core Data.
    ///
    /// - Parameter url: the file or package.
    public convenience init?(contentsOf url: URL?) {
        guard let url, let mappings = try? Self.mappings(at: url) else { return nil }
        self.init()
        entityMappings = mappings
    }

    /// Finds the compiled mapping model between two versions of a model: the one whose entity mappings have the version
    /// hashes of their entities. Nil if there is none.
    ///
    /// One that maps no objects of an entity which both versions have is not taken, and the one that leaves out the
    /// fewest entities comes first.
    ///
    /// - Parameters:
    ///   - bundles: the bundles to search; `nil` for all loaded bundles, and the resources of packages beside them.
    ///   - sourceModel: the version to migrate from.
    ///   - destinationModel: the version to migrate to.
    public convenience init?(
        from bundles: [Bundle]?, forSourceModel sourceModel: NSManagedObjectModel?,
        destinationModel: NSManagedObjectModel?
    ) {
        guard let sourceModel, let destinationModel else { return nil }
        let given = bundles?.flatMap { $0.urls(forResourcesWithExtension: "cdm", subdirectory: nil) ?? [] }
        let files = given?.map { $0 as URL } ?? Self.compiledFiles(in: ModelLocator.searchedDirectories())
        self.init(files, from: sourceModel, to: destinationModel)
    }

    /// Uses the compiled mapping model that was made for two models; nil if there is none. Of several that leave out as
    /// many entities, the first by path is used.
    convenience init?(_ files: [URL], from source: NSManagedObjectModel, to destination: NSManagedObjectModel) {
        let read = files.ordered(by: { $0.path < $1.path }).compactMap { try? Self.mappings(at: $0) }
        guard let best = MappingFit.best(read, from: source, to: destination) else { return nil }
        self.init()
        entityMappings = read[best]
    }

    /// The compiled mapping models in folders.
    static func compiledFiles(in folders: [URL]) -> [URL] {
        folders.flatMap { (try? MappingModelFiles.files(in: $0, withExtension: "cdm")) ?? [] }
    }

    /// The entity mappings of a file, compiled or source.
    ///
    /// - Parameters:
    ///   - url: the `.cdm` or `.xcmappingmodel`.
    ///   - models: the versions that a source is compiled for; `nil` for the versions that it names.
    /// - Returns: the entity mappings, in the order of the file.
    /// - Throws: an error in the Cocoa domain that names the file and what is wrong in it.
    package static func mappings(
        at url: URL, models: (source: NSManagedObjectModel, destination: NSManagedObjectModel)? = nil
    ) throws -> [NSEntityMapping] {
        guard url.pathExtension == "xcmappingmodel" else {
            return try ModelFileError.naming(url) { try MappingArchiveReader.mappings(of: Data(contentsOf: url)) }
        }
        let source = try MappingSourceReader.source(at: url)
        let mapped = try models.map {
            (source: try MappedModel($0.source), destination: try MappedModel($0.destination))
        }
        let models = try mapped ?? source.mappedModels(for: url)
        return try ModelFileError.naming(MappingSourceReader.file(url)) {
            try MappingSourceCompiler.documents(of: source, from: models.source, to: models.destination)
                .map(NSEntityMapping.init)
        }
    }

    /// The content of a compiled mapping model, a `.cdm` file.
    ///
    /// - Throws: an error in the Cocoa domain that names the mapping and property which no file can hold.
    package func compiledData() throws -> Data {
        try ModelFileError.naming(nil) {
            try MappingArchiveWriter.archive(of: (entityMappings ?? []).map(\.document)).data()
        }
    }
}
