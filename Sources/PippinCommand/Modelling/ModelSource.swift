import CodeGeneration
import CoreData
import StoreReading

/// A model to work with: one version of a model file, or the copy that a store keeps.
struct ModelSource {
    let document: ModelDocument
    /// Version hashes that Apple's tools computed, by entity; empty for a model without them.
    let versionHashes: [String: Data]
    /// Apple's checksum of the version.
    let checksum: String?
    /// The file's name, with its version where it has several.
    let title: String
    /// The names of the versions, and which is current; none for a store.
    let versions: [String]
    let currentVersion: String?
    /// The version of a model file; nil for a store.
    let version: ModelPackage.Version?
    /// What its source has that is not understood, and means nothing to a store.
    let remarks: [String]

    /// Opens a model.
    ///
    /// - Throws: an error that names the file and what is wrong with it.
    init(_ choice: ModelInvocation.Choice) throws {
        let named = URL(fileURLWithPath: choice.path)
        // A file within a source stands for the source.
        let url = Self.parts.contains(named.lastPathComponent) ? ModelPackage.model(around: named) ?? named : named
        guard Self.isModel(url) else {
            self = try Self.ofStore(URL(store: choice.path), version: choice.version)
            return
        }
        let package = try ModelPackage(at: url)
        let name = try choice.version ?? package.currentVersionName
        let version = try package.version(named: name)
        self.version = version
        document = try package.document(version: name).withoutImpliedIndexes
        versionHashes = package.recordedHashes(version: name)
        checksum = versionHashes.isEmpty ? nil : package.info.checksums[name]
        versions = package.versions.map(\.name)
        currentVersion = try? package.currentVersionName
        remarks = try package.sourceWarnings(version: name).map(\.text)
        // An .omo is Apple's own form of the .mom beside it.
        let (file, read) = (url.lastPathComponent, package.url.lastPathComponent)
        title =
            (url.pathExtension == "omo" && file != read ? "\(file), read from \(read)" : read)
            + (versions.count > 1 ? ", version “\(name)”" : "")
    }

    /// The files in models that have no extension of their own.
    private static let parts: Set<String> = [
        "contents", "elements", "layout", "VersionInfo.plist", ".xccurrentversion",
    ]

    /// Whether a path is that of a model file, by its extension; anything else is taken for a store.
    static func isModel(_ url: URL) -> Bool {
        ["momd", "mom", "omo", "xcdatamodeld", "xcdatamodel"].contains(url.pathExtension)
    }

    /// The line of the file that a problem is in; nil for a store, and for files without lines.
    func line(of problem: RecordProblem) -> Int? {
        version.flatMap { ModelPackage.line(ofEntity: problem.entity, property: problem.property, in: $0) }
    }

    /// Checks the model of a file as a whole.
    ///
    /// - Throws: an error that names file, line, entity and property.
    func check() throws {
        if let version { try ModelPackage.check(document, of: version) }
    }

    private init(document: ModelDocument, versionHashes: [String: Data], title: String) {
        self.document = document
        self.versionHashes = versionHashes
        self.title = title
        checksum = nil
        version = nil
        remarks = []
        versions = []
        currentVersion = nil
    }

    private static func ofStore(_ url: URL, version: String?) throws -> ModelSource {
        if let version {
            throw CommandError("“\(url.path)” is not a model file, so it has no version “\(version)” to choose")
        }
        let copy = try PrivateCopy(of: url)
        let facts = try FileFacts(salvaging: copy, original: url)
        let candidate: ModelCandidate
        do { candidate = try ModelCandidate.copy(in: facts, store: url) } catch let error as ModelCandidate.NoModel {
            throw CommandError("\(error.reason); pippin info shows the entities as the file has them")
        }
        let isOurs = facts.metadata["PippinVersionHashes"] != nil
        return ModelSource(
            document: candidate.document.withoutImpliedIndexes, versionHashes: isOurs ? [:] : candidate.versionHashes,
            title: "the model in \(url.lastPathComponent)")
    }

    /// The model as Core Data's classes.
    ///
    /// - Throws: an error that names the entity and property that are wrong, and their place in a model file.
    func model() throws -> NSManagedObjectModel {
        try check()
        return try ModelFileError.naming(nil) {
            let model = try ModelAssembler.model(document, versionHashes: versionHashes)
            model.recordedVersionChecksum = checksum
            return model
        }
    }
}
