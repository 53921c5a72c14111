import CompactCollections
import Foundation

/// Reads `xcmapping.xml`.
package enum MappingSourceReader {
    /// Reads a file.
    ///
    /// - Parameter url: the `.xcmappingmodel`, or the `xcmapping.xml` in it.
    /// - Returns: the editor's objects.
    /// - Throws: an error in the Cocoa domain that names the file and its defect.
    package static func source(at url: URL) throws -> MappingSource {
        let file = Self.file(url)
        return try ModelFileError.naming(file) {
            guard let data = FileManager.default.contents(atPath: file.path) else {
                throw ModelFileError(.missing, reason: "it is missing or cannot be read")
            }
            return try source(of: data)
        }
    }

    package static func file(_ url: URL) -> URL {
        url.pathExtension == "xcmappingmodel" ? url.appendingPathComponent("xcmapping.xml") : url
    }

    /// Reads the bytes of a file.
    ///
    /// - Throws: `ModelFileError` with the defect.
    package static func source(of data: Data) throws -> MappingSource {
        let document: StoreDocument
        do { document = try XMLStoreReader.document(of: data) } catch let failure as StoreDocument.Failure {
            throw ModelFileError(.corrupt, reason: failure.reason)
        }
        var source = MappingSource()
        source.uuid = document.metadata["NSStoreUUID"] as? String ?? source.uuid
        source.nextKey = document.lastKey
        let version = document.metadata["NSPersistenceFrameworkVersion"] as? NSNumber
        source.frameworkVersion = version?.int64Value ?? source.frameworkVersion
        source.checksum = document.metadata["NSStoreModelVersionChecksumKey"] as? String
        source.objects = try document.objects.map(object)
        guard source.root != nil else {
            throw ModelFileError(
                .corrupt, reason: "it has no \(MappingSource.Kind.model.rawValue), so it is no mapping model")
        }
        try checkReferences(of: source)
        return source
    }

    private static func object(_ object: StoreDocument.Object) throws -> MappingSource.Object {
        guard let kind = MappingSource.Kind(rawValue: object.entityName) else {
            throw ModelFileError(
                .corrupt, reason: "object z\(object.key) is a \(object.entityName), no part of a mapping model")
        }
        var result = MappingSource.Object(kind: kind, key: object.key)
        for (name, value) in object.attributes {
            if case .text(let text) = value { result.set(name, text) }
        }
        for (name, keys) in object.relationships { result.refer(name, to: keys) }
        return result
    }

    private static func checkReferences(of source: MappingSource) throws {
        var known: Set<Int64> = []
        for object in source.objects where !known.insert(object.key).inserted {
            throw ModelFileError(.corrupt, reason: "there are two objects z\(object.key)")
        }
        for object in source.objects {
            for reference in object.references {
                guard let missing = reference.keys.first(where: { !known.contains($0) }) else { continue }
                throw ModelFileError(
                    .corrupt,
                    reason: "“\(reference.name)” of object z\(object.key) leads to z\(missing), which is not there")
            }
        }
    }
}
