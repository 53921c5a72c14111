import CompactCollections
import Foundation
import Ordering

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
            .filter { $0.pathExtension == fileExtension && !$0.lastPathComponent.hasPrefix(".") }.ordered {
                $0.path < $1.path
            }
    }
}
