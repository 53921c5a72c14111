import Foundation

/// A reference to a model that is searched when it is needed, and must be of a certain version. Migration stages refer
/// to their models like this.
///
/// A checksum is only compared with a model that has Apple's: one that Xcode printed cannot be compared with a model
/// that was compiled here.
open class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
    // @unchecked Sendable: immutable; a model that is found is frozen when a coordinator takes it.

    /// The checksum of the version that the model must have; see `NSManagedObjectModel.versionChecksum`.
    public let versionChecksum: String
    private let place: Place

    private enum Place {
        case model(NSManagedObjectModel)
        case file(URL)
        case name(String, Bundle)
        case hashes([String: Data], Bundle)
    }

    /// Refers to a model in memory.
    ///
    /// - Parameters:
    ///   - model: the model.
    ///   - versionChecksum: the checksum that the model must have.
    public init(model: NSManagedObjectModel, versionChecksum: String) {
        place = .model(model)
        self.versionChecksum = versionChecksum
    }

    /// Refers to a model file, a `.mom` or a `.momd`.
    ///
    /// - Parameters:
    ///   - fileURL: the location of the model.
    ///   - versionChecksum: the checksum of the version in it.
    public init(fileURL: URL, versionChecksum: String) {
        place = .file(fileURL)
        self.versionChecksum = versionChecksum
    }

    /// Refers to the version of a model whose entities have certain version hashes.
    ///
    /// - Parameters:
    ///   - versionHash: the version hashes by entity name.
    ///   - bundle: the bundle with the model; `nil` for the main bundle.
    ///   - versionChecksum: the checksum of the version.
    public init(entityVersionHashes versionHash: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
        let hashes = versionHash.reduce(into: [String: Data]()) { result, pair in
            if let name = pair.key.base as? String, let hash = pair.value as? Data { result[name] = hash }
        }
        place = .hashes(hashes, bundle ?? .main)
        self.versionChecksum = versionChecksum
    }

    /// Refers to a model, or a version of one, by the name of its file without extension.
    ///
    /// - Parameters:
    ///   - modelName: the name.
    ///   - bundle: the bundle with the model; `nil` for the main bundle.
    ///   - versionChecksum: the checksum of the version.
    public init(name modelName: String, in bundle: Bundle?, versionChecksum: String) {
        place = .name(modelName, bundle ?? .main)
        self.versionChecksum = versionChecksum
    }

    /// The model. If there is none, or it is of another version, the program stops with a message that names the place.
    open var resolvedModel: NSManagedObjectModel {
        do { return try resolve() } catch { programmerError((error as NSError).localizedDescription) }
    }

    /// The model.
    ///
    /// - Throws: `NSManagedObjectModelReferenceNotFoundError` if there is none, or it is of another version.
    package func resolve() throws -> NSManagedObjectModel {
        let model = try find()
        let isApples =
            model.recordedVersionChecksum != nil && model.entities.allSatisfy { $0.recordedVersionHash != nil }
        guard model.versionChecksums.contains(versionChecksum) || !isApples else {
            throw notFound(
                "\(description(of: place)) has the checksum “\(model.versionChecksum)”, not “\(versionChecksum)”")
        }
        return model
    }

    private func find() throws -> NSManagedObjectModel {
        switch place {
        case .model(let model): return model
        case .file(let url):
            if let model = NSManagedObjectModel(contentsOf: url) { return model }
        case .name(let name, let bundle):
            for package in Self.packages(in: bundle) {
                if package.url.deletingPathExtension().lastPathComponent == name { return try package.model() }
                if package.versions.contains(where: { $0.name == name }) { return try package.model(version: name) }
            }
        case .hashes(let hashes, let bundle):
            for package in Self.packages(in: bundle) {
                for version in package.versions {
                    let model = try package.model(version: version.name)
                    if model.entityVersionHashesByName == hashes || model.ownVersionHashesByName == hashes {
                        return model
                    }
                }
            }
        }
        throw notFound("there is no \(description(of: place))")
    }

    private static func packages(in bundle: Bundle) -> [ModelPackage] {
        ["momd", "mom"].flatMap { bundle.urls(forResourcesWithExtension: $0, subdirectory: nil) ?? [] }
            .compactMap { try? ModelPackage(at: $0 as URL) }
    }

    private func description(of place: Place) -> String {
        switch place {
        case .model: "model of the reference"
        case .file(let url): "model “\(url.path)”"
        case .name(let name, let bundle): "model “\(name)” in “\(bundle.bundlePath)”"
        case .hashes(let hashes, let bundle):
            "model in “\(bundle.bundlePath)” with those version hashes of \(hashes.keys.sorted().joined(separator: ", "))"
        }
    }

    private func notFound(_ what: String) -> NSError {
        StoreError.make(
            NSManagedObjectModelReferenceNotFoundError, "The model of a reference was not found: \(what).")
    }
}
