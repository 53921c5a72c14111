import Foundation

extension MappingSource {
    /// The models that a source names, found in the project: by the recorded path, or by its last parts, in the folder
    /// of the file or one above it. A version that no longer exists under its name is replaced by the version of its
    /// package that the mappings fit, and otherwise by the copy of the model that the source itself holds: Xcode
    /// compiles with its copies, and does not notice that a version was renamed or moved.
    ///
    /// - Parameter url: the `.xcmappingmodel`.
    /// - Returns: both versions of the model.
    /// - Throws: an error in the Cocoa domain that names the path that leads nowhere.
    package func mappedModels(
        for url: URL
    ) throws -> (source: MappedModel, destination: MappedModel) {
        try ModelFileError.naming(MappingSourceReader.file(url)) {
            let source = try NamedModel(modelPaths.source, "source", beside: url)
            let destination = try NamedModel(modelPaths.destination, "destination", beside: url)
            let areFound = !source.versions.isEmpty && !destination.versions.isEmpty
            let pairs = areFound ? [] : fitting(source, destination)
            if pairs.count == 1 { return pairs[0] }
            return (
                try model(source, copy: "sourcemodeldata", fitting: pairs.count),
                try model(destination, copy: "destinationmodeldata", fitting: pairs.count)
            )
        }
    }

    /// The version at the path that a source names, or the source's own copy of it.
    private func model(_ named: NamedModel, copy field: String, fitting count: Int) throws -> MappedModel {
        if let version = named.versions.first { return try Self.model(version) }
        guard let text = root?.text(field), let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters),
            // The form in which Xcode 3 stored models, to this day.
            let document = try? SourceReader.document(ofElements: data), (try? DocumentCheck.check(document)) != nil
        else { throw named.missing(fitting: count) }
        return MappedModel(document, hashes: VersionHash.hashes(of: document))
    }

    /// The pairs of versions that all mappings fit, if one is not found by its name.
    private func fitting(
        _ source: NamedModel, _ destination: NamedModel
    ) -> [(source: MappedModel, destination: MappedModel)] {
        var found: [(source: MappedModel, destination: MappedModel)] = []
        let destinations = Self.models(destination, with: entityMappings.compactMap { $0.text("destinationname") })
        for (first, from) in Self.models(source, with: entityMappings.compactMap { $0.text("sourcename") }) {
            for (second, to) in destinations where first != second {
                let mappings = try? MappingSourceCompiler.documents(of: self, from: from, to: to)
                if mappings != nil { found.append((from, to)) }
            }
        }
        return found
    }

    /// The versions that have all of the entities. A package may have drafts that cannot be read.
    private static func models(_ named: NamedModel, with entities: [String]) -> [(url: URL, model: MappedModel)] {
        (named.versions + named.others).compactMap { url in
            guard let model = try? model(url), entities.allSatisfy(model.hasEntity) else { return nil }
            return (url, model)
        }
    }

    private static func model(_ url: URL) throws -> MappedModel { try MappedModel(ModelPackage(at: url)) }
}

/// A version of a model that the source of a mapping model names by its path.
private struct NamedModel {
    let path: String?
    let side: String
    /// The version at the path; empty if there is no such file.
    let versions: [URL]
    /// The versions of its package, if the path names none of them.
    let others: [URL]

    init(_ path: String?, _ side: String, beside url: URL) throws {
        self.path = path
        self.side = side
        let parts = (path ?? "").split(separator: "/").map(String.init)
        versions = Self.file(parts[...], beside: url).map { [$0] } ?? []
        guard versions.isEmpty, let package = parts.lastIndex(where: { $0.hasSuffix(".xcdatamodeld") }),
            let folder = Self.file(parts[...package], beside: url)
        else {
            others = []
            return
        }
        others = try ModelPackage(at: folder).versions.map(\.url)
    }

    func missing(fitting count: Int) -> ModelFileError {
        guard let path else { return ModelFileError(reason: "it does not say where its \(side) model is") }
        let names = others.map { "“\($0.deletingPathExtension().lastPathComponent)”" }.joined(separator: ", ")
        let known = others.isEmpty ? "" : "; of \(names), which are in its package, \(count) fit the mappings"
        return ModelFileError(
            .missing, reason: "its \(side) model, “\(path)”, is neither in its folder nor in one above it\(known)")
    }

    /// The file at a path, or at its last parts, in the folder of a file or one above it.
    private static func file(_ parts: ArraySlice<String>, beside url: URL) -> URL? {
        var folder = url.standardizedFileURL.deletingLastPathComponent()
        for _ in 0..<16 {
            for start in parts.indices {
                let candidate = parts[start...].reduce(folder) { $0.appendingPathComponent($1) }
                if FileManager.default.fileExists(atPath: candidate.path) { return candidate }
            }
            if folder.path == "/" { break }
            folder.deleteLastPathComponent()
        }
        return nil
    }
}

extension MappedModel {
    /// The current version of a model file.
    ///
    /// - Throws: an error in the Cocoa domain that names file, line, entity and property.
    init(_ package: ModelPackage) throws {
        let document = try package.document()
        try ModelPackage.check(document, of: package.version(named: package.currentVersionName))
        let recorded = try package.recordedHashes(version: package.currentVersionName)
        self.init(document, hashes: VersionHash.hashes(of: document).merging(recorded) { _, recorded in recorded })
    }
}
