import CompactCollections
import CoreDataModel
import Foundation
import Ordering

/// The description of a model's version in messages: by its identifiers, or else the name of its file, or else its
/// checksum.
package struct VersionDescription {
    /// `version “4”`, `version “Model 4” of “Model.momd”`, `the version with the checksum “…”`
    let text: String

    /// - Parameters:
    ///   - model: the version to describe.
    ///   - sibling: another version of the same model, whose package may contain this one: a model that was read from a
    ///     store has no file.
    package init(_ model: NSManagedObjectModel, sibling: NSManagedObjectModel? = nil) {
        if let named = Self.text(identifiers: model.versionIdentifiers.compactMap { $0.base as? String }) {
            text = named
        } else if let origin = model.origin ?? sibling.flatMap({ Self.origin(of: model, besides: $0) }) {
            text = "version “\(origin.versionName)” of “\(origin.package.lastPathComponent)”"
        } else {
            text = Self.text(checksum: model.versionChecksum)
        }
    }

    /// - Parameter metadata: a store's metadata.
    package init(_ metadata: [String: Any]) {
        let identifiers = metadata[NSStoreModelVersionIdentifiersKey] as? [String] ?? []
        let checksum =
            metadata[NSPersistentStoreModelVersionChecksumKey] as? String
            ?? VersionHash.checksum(of: StoreMetadata.hashes(in: metadata))
        text = Self.text(identifiers: identifiers) ?? Self.text(checksum: checksum)
    }

    /// The text, and the checksum if the text does not contain it already.
    package func text(with checksum: String) -> String {
        text.contains(checksum) ? text : "\(text), with the checksum “\(checksum)”"
    }

    private static func text(identifiers: [String]) -> String? {
        let named = identifiers.filter { !$0.isEmpty }.sorted()
        return named.isEmpty ? nil : "version “\(named.joined(separator: ", "))”"
    }

    private static func text(checksum: String) -> String { "the version with the checksum “\(checksum)”" }

    private static func origin(
        of model: NSManagedObjectModel, besides sibling: NSManagedObjectModel
    ) -> NSManagedObjectModel.Origin? {
        guard let url = sibling.origin?.package, let package = try? ModelPackage(at: url) else { return nil }
        let name = package.versions.lazy.map(\.name).first { name in
            // A version that cannot be read is not the one.
            (try? package.model(version: name)).map { $0.isSameVersion(as: model) } ?? false
        }
        return name.map { NSManagedObjectModel.Origin(package: url, versionName: $0) }
    }
}
