import Foundation
import ModelFiles

/// Finds mapping models in folders.
enum MappingModelFiles {
    /// The mapping models in folders, by their files' names, in the order of the folders.
    ///
    /// - Parameters:
    ///   - folders: the folders to search.
    ///   - sources: the versions that sources may be for; `nil` to read compiled mapping models only. A source beside
    ///     its compiled form is not read.
    /// - Returns: the mapping models.
    /// - Throws: an error that names the first file that cannot be read.
    static func read(in folders: [URL], sourcesFor sources: MappedVersions? = nil) throws -> [NamedMapping] {
        var seen: Set<String> = []
        return try folders.flatMap { folder in
            let compiled = try files(in: folder, withExtension: "cdm")
            guard sources != nil else { return compiled }
            let names = Set(compiled.map(name))
            return try compiled + files(in: folder, withExtension: sourceExtension).filter { !names.contains(name($0)) }
        }.filter {
            seen.insert($0.resolvingSymlinksInPath().path).inserted
        }.compactMap { url in
            let mapping = NSMappingModel()
            if let sources, url.pathExtension == sourceExtension {
                guard let models = try sources.models(ofSource: url) else { return nil }
                mapping.entityMappings = try NSMappingModel.mappings(at: url, models: models)
            } else {
                mapping.entityMappings = try NSMappingModel.mappings(at: url)
            }
            return NamedMapping(name: name(url), mapping: mapping)
        }
    }

    private static let sourceExtension = "xcmappingmodel"

    private static func name(_ url: URL) -> String { url.deletingPathExtension().lastPathComponent }

    /// The files in a folder with an extension, by name; empty if there is no such folder.
    static func files(in folder: URL, withExtension fileExtension: String) throws -> [URL] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == fileExtension && !$0.lastPathComponent.hasPrefix(".") }.sorted {
                $0.path < $1.path
            }
    }
}

/// The versions of a model package, as the sources of mapping models name them: by paths in the project in which they
/// were made.
struct MappedVersions {
    /// The package's name, without its extension.
    let package: String
    let versions: [KnownVersion]

    /// The two versions of a source.
    ///
    /// - Parameter url: the `.xcmappingmodel`.
    /// - Returns: the versions; `nil` for a source of another package.
    /// - Throws: an error that names the file if it cannot be read, or its versions are not in its package.
    func models(ofSource url: URL) throws -> (source: NSManagedObjectModel, destination: NSManagedObjectModel)? {
        let paths = try MappingSourceReader.source(at: url).modelPaths
        if let source = model(paths.source), let destination = model(paths.destination) { return (source, destination) }
        let missing = model(paths.source) == nil ? paths.source : paths.destination
        if let missing, let other = Self.package(of: missing), other != package { return nil }
        return try ModelFileError.naming(MappingSourceReader.file(url)) {
            throw ModelFileError(
                .missing,
                reason: "its model, “\(missing ?? "")”, is not a version of “\(package)” that can be read; there are "
                    + versions.map(\.name).joined(separator: ", "))
        }
    }

    /// The version with which a path ends.
    private func model(_ path: String?) -> NSManagedObjectModel? {
        let name = path.map { URL(fileURLWithPath: $0).deletingPathExtension().lastPathComponent }
        return versions.first { $0.name == name }?.model
    }

    /// The package in a path: `Library` for `Sources/Library.xcdatamodeld/Library 2.xcdatamodel`.
    private static func package(of path: String) -> String? {
        path.split(separator: "/").map { URL(fileURLWithPath: String($0)) }.last { $0.pathExtension == "xcdatamodeld" }?
            .deletingPathExtension().lastPathComponent
    }
}

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
        let read = files.sorted(by: { $0.path < $1.path }).compactMap { try? Self.mappings(at: $0) }
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

/// Whether entity mappings are for two versions of a model. Pure.
///
/// A mapping model names the version hashes of its entities. One that was made for other versions may have only hashes
/// of these two, if the versions have further entities, and does not migrate their objects. So the entities that it
/// does not name count, too.
enum MappingFit {
    /// Whether entity mappings were made for two models: their hashes are those of the models, and they lose no entity.
    static func holds(
        _ mappings: [NSEntityMapping], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> Bool {
        agree(mappings, from: source, to: destination) && lost(mappings, from: source, to: destination).isEmpty
    }

    /// Whether the hashes of entity mappings are those of two models.
    static func agree(
        _ mappings: [NSEntityMapping], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> Bool { !mappings.isEmpty && agree(mappings, source: source) && agree(mappings, destination: destination) }

    /// Whether the sources of entity mappings are of a model's version.
    static func agree(_ mappings: [NSEntityMapping], source: NSManagedObjectModel) -> Bool {
        mappings.allSatisfy { agrees($0.sourceEntityVersionHash, $0.sourceEntityName, source) }
    }

    /// Whether the destinations of entity mappings are of a model's version.
    static func agree(_ mappings: [NSEntityMapping], destination: NSManagedObjectModel) -> Bool {
        mappings.allSatisfy { agrees($0.destinationEntityVersionHash, $0.destinationEntityName, destination) }
    }

    /// Whether a hash is an entity's: Apple's, or our own. A mapping compiled here has our own hashes, while a store's
    /// copy of its model has Apple's. A mapping without a hash, made by a program, is of any version with the entity.
    private static func agrees(_ hash: Data?, _ entity: String?, _ model: NSManagedObjectModel) -> Bool {
        guard let entity else { return hash == nil }
        guard let description = model.entitiesByName[entity] else { return false }
        return hash.map { description.versionHash == $0 || description.ownVersionHash == $0 } ?? true
    }

    /// The source's entities whose objects no mapping is for, although the destination has the entities. A mapping for
    /// a removed entity says that its objects go.
    static func lost(
        _ mappings: [NSEntityMapping], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> [String] {
        let named = Set(mappings.flatMap { $0.takenEntities(of: source) })
        let others = source.entities.filter { !$0.isAbstract && !named.contains($0.name ?? "") }.compactMap(\.name)
        guard !others.isEmpty else { return [] }
        let kept = Set(ModelCorrespondence(from: source, to: destination).entities.values)
        return others.filter(kept.contains).sorted()
    }

    /// How many entities of the destination no mapping makes. A mapping model may leave out new ones; of several
    /// mapping models, the one that does not was made for the version.
    static func unnamed(_ mappings: [NSEntityMapping], of destination: NSManagedObjectModel) -> Int {
        let named = Set(mappings.compactMap(\.destinationEntityName))
        return destination.entities.filter { !$0.isAbstract && !named.contains($0.name ?? "") }.count
    }

    /// The index of the mappings for two models that leave out the fewest entities, the first of several; nil if none
    /// are for them.
    ///
    /// Mappings without any hash of the source or of the destination do not say what versions they are for.
    static func best(
        _ candidates: [[NSEntityMapping]], from source: NSManagedObjectModel, to destination: NSManagedObjectModel
    ) -> Int? {
        candidates.indices.filter { index in
            candidates[index].contains { $0.sourceEntityVersionHash != nil }
                && candidates[index].contains { $0.destinationEntityVersionHash != nil }
                && holds(candidates[index], from: source, to: destination)
        }.map { (index: $0, unnamed: unnamed(candidates[$0], of: destination)) }
            .min { ($0.unnamed, $0.index) < ($1.unnamed, $1.index) }?.index
    }
}
