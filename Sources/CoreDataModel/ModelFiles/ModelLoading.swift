import CompactCollections
import Foundation

extension NSManagedObjectModel {
    /// Reads the current version of a model file; nil if it cannot be read, as in Core Data.
    ///
    /// The localization dictionary is that of the file `<Name>Model.strings` beside a model `<Name>`, or in the folder
    /// of a language beside it, such as `de.lproj`.
    ///
    /// - Parameter url: a compiled model, `.momd` (the folder may have another extension) or `.mom`, or, unlike
    ///   Apple's, also a source model, `.xcdatamodeld` or `.xcdatamodel`. The version hashes are those of the package's
    ///   `VersionInfo.plist`.
    public convenience init?(contentsOf url: URL) {
        guard let model = try? ModelPackage(at: url).localizedModel() else { return nil }
        self.init()
        become(model)
    }

    /// Merges the models of bundles. Where they have none, the result has no entities; nil if two models conflict.
    ///
    /// ```swift
    /// let model = NSManagedObjectModel.mergedModel(from: [.main])
    /// ```
    ///
    /// - Parameter bundles: the bundles to search for `.momd` and `.mom`; `nil` for all loaded bundles.
    /// - Returns: the merged model; `nil` if two models conflict.
    public class func mergedModel(from bundles: [Bundle]?) -> NSManagedObjectModel? {
        let models = packages(in: bundles).compactMap { try? $0.localizedModel() }
        return models.isEmpty ? NSManagedObjectModel() : NSManagedObjectModel(byMerging: models)
    }

    /// Merges the versions of the bundles' models whose entities a store has; nil if these are not exactly the store's
    /// entities.
    ///
    /// - Parameters:
    ///   - bundles: the bundles to search; nil for all loaded bundles.
    ///   - metadata: the store's metadata, with its entities' version hashes.
    /// - Returns: the merged model; `nil` if there is none.
    public class func mergedModel(
        from bundles: [Bundle]?, forStoreMetadata metadata: [String: Any]
    ) -> NSManagedObjectModel? {
        let models = packages(in: bundles).flatMap { package in
            package.versions.compactMap { try? package.localizedModel(version: $0.name) }
        }
        return NSManagedObjectModel(byMerging: models, forStoreMetadata: metadata)
    }

    /// The versions in the package that a model was read from, and in the bundles, without those that cannot be read.
    package static func versions(near model: NSManagedObjectModel?) -> [NSManagedObjectModel] {
        let own = (model?.origin?.package).flatMap { try? ModelPackage(at: $0) }
        return ([own].compactMap { $0 } + packages(in: nil)).flatMap { package in
            package.versions.compactMap { try? package.model(version: $0.name) }
        }
    }

    private static func packages(in bundles: [Bundle]?) -> [ModelPackage] {
        let bundles = bundles ?? [Bundle.main] + Bundle.allBundles.filter { $0 != Bundle.main }
        return bundles.flatMap { bundle in
            ["momd", "mom"].flatMap { bundle.urls(forResourcesWithExtension: $0, subdirectory: nil) ?? [] }
        }.compactMap { try? ModelPackage(at: $0 as URL) }
    }

    /// Takes the content of a model that was just made and that nobody else has.
    func become(_ model: NSManagedObjectModel) {
        copyContents(of: model)
        origin = model.origin
        recordVersionHashes(model.entities.reduce(into: [:]) { $0[$1.name ?? ""] = $1.recordedVersionHash })
    }
}
