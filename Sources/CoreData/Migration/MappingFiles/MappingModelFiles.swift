import Foundation
import Ordering

/// Finds compiled mapping models in folders.
enum MappingModelFiles {
    /// The mapping models in folders, by their file's names, in the order of the folders.
    ///
    /// - Throws: an error that names the first file that cannot be read.
    static func read(in folders: [URL]) throws -> [NamedMapping] {
        var seen: Set<String> = []
        return try folders.flatMap { try files(in: $0, withExtension: "cdm") }.filter {
            seen.insert($0.resolvingSymlinksInPath().path).inserted
        }.map { url in
            let mapping = NSMappingModel()
            mapping.entityMappings = try NSMappingModel.mappings(at: url)
            return NamedMapping(name: url.deletingPathExtension().lastPathComponent, mapping: mapping)
        }
    }

    /// The files of a folder with an extension, by name; none where there is no such folder.
    static func files(in folder: URL, withExtension fileExtension: String) throws -> [URL] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == fileExtension }.ordered { $0.path < $1.path }
    }
}
