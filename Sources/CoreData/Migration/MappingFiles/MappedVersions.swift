import CompactCollections
import Foundation

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
                reason: "its model, “\(missing ?? "")”, is no version of “\(package)” that can be read; there are "
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
