import Foundation

extension ModelPackage {
    /// Reads one version as a value.
    ///
    /// - Parameters:
    ///   - name: the version; nil for the current one.
    ///   - moduleName: the module that the classes of the “current product module” belong to, for source files.
    /// - Returns: the model of the version.
    /// - Throws: an error in the Cocoa domain that names file, line, entity and property.
    package func document(version name: String? = nil, moduleName: String? = nil) throws -> ModelDocument {
        let version = try version(named: name ?? currentVersionName)
        let file = Self.file(of: version)
        return try ModelFileError.naming(file) {
            let data = try Self.contents(of: version)
            if version.url.pathExtension == "mom" { return try ModelArchiveReader.document(of: data) }
            return file.lastPathComponent == Self.legacyName
                ? try SourceReader.document(ofElements: data, moduleName: moduleName)
                : try SourceReader.document(of: data, moduleName: moduleName)
        }
    }

    /// Checks the model of a version as a whole (`DocumentCheck`).
    ///
    /// - Parameters:
    ///   - document: the model.
    ///   - version: the version that it was read from.
    /// - Throws: an error in the Cocoa domain that names file, line, entity and property.
    package static func check(_ document: ModelDocument, of version: Version) throws {
        try ModelFileError.naming(file(of: version)) {
            do { try DocumentCheck.check(document) } catch var error as ModelFileError {
                error.line = line(ofEntity: error.entity, property: error.property, part: error.part, in: version)
                throw error
            }
        }
    }

    /// The line of an entity, of a property of it, or of another part of a version's source.
    ///
    /// - Returns: the line, from 1; nil if it is not found, and for files without lines.
    package static func line(
        ofEntity entity: String?, property: String?, part: ModelFileError.Part? = nil, in version: Version
    ) -> Int? {
        guard version.url.pathExtension == "xcdatamodel", let data = try? contents(of: version) else { return nil }
        return SourcePlaces.line(ofEntity: entity, property: property, part: part, in: data)
    }

    /// The version hashes that Apple's tools recorded for a version, by entity. Pippin's own do not count: they are
    /// computed anew, so that a model can say whose hashes it has.
    package func recordedHashes(version name: String) -> [String: Data] {
        info.hashesAreOurs ? [:] : info.versionHashes[name] ?? [:]
    }

    package func version(named name: String) throws -> Version {
        guard let version = versions.first(where: { $0.name == name }) else {
            let known = versions.map(\.name).joined(separator: ", ")
            throw ModelFileError(.missing, reason: "there is no version “\(name)”; there are \(known)").nsError(
                file: url)
        }
        return version
    }

    /// The parts of a version's source that are not understood and have no meaning for a store; empty for a compiled
    /// one.
    ///
    /// - Throws: an error in the Cocoa domain that names the file.
    package func sourceWarnings(version name: String? = nil) throws -> [SourceWarning] {
        let version = try version(named: name ?? currentVersionName)
        let file = Self.file(of: version)
        guard version.url.pathExtension == "xcdatamodel" else { return [] }
        return try ModelFileError.naming(file) {
            let data = try Self.contents(of: version)
            return file.lastPathComponent == Self.legacyName
                ? try SourceReader.warnings(ofElements: data) : try SourceReader.warnings(of: data)
        }
    }

    private static func contents(of version: Version) throws -> Data {
        if let data = FileManager.default.contents(atPath: file(of: version).path) { return data }
        throw ModelFileError(.missing, reason: "it is missing or cannot be read")
    }

    /// The file of a version in Xcode 3.
    private static let legacyName = "elements"

    /// The file with the content of a version.
    package static func file(of version: Version) -> URL {
        guard version.url.pathExtension == "xcdatamodel" else { return version.url }
        let contents = version.url.appendingPathComponent("contents")
        let elements = version.url.appendingPathComponent(legacyName)
        let isLegacy = [contents, elements].map { FileManager.default.fileExists(atPath: $0.path) } == [false, true]
        return isLegacy ? elements : contents
    }
}

/// Finds the place in a source of what an error names. Errors that are found in the model as a whole have no element of
/// the file at hand.
enum SourcePlaces {
    /// - Parameters:
    ///   - entity: the entity's name; nil for a part of the model that is in no entity.
    ///   - property: the property's name, or the key path of an element of it; nil for the entity itself.
    ///   - part: the part of the model, if there is no entity.
    ///   - contents: the bytes of the file `contents`.
    /// - Returns: the line, from 1; of several with the name that of the last, which is one too many. Nil if the file
    ///   has none.
    static func line(
        ofEntity entity: String?, property: String?, part: ModelFileError.Part? = nil, in contents: Data
    ) -> Int? {
        guard let root = try? SourceElement.root(of: contents) else { return nil }
        guard let entity else {
            return part.flatMap { part in root.children(named: part.element).last { $0.string("name") == part.name } }?
                .line
        }
        let entities = root.children(named: "entity").filter { $0.string("name") == entity }
        let properties = entities.flatMap(\.children).filter { Self.properties.contains($0.name) }
        let found = property.flatMap { property in
            properties.last { $0.string("name") == property }
                ?? properties.last { $0.string("name") == property.firstKey }
        }
        return (found ?? entities.last)?.line
    }

    private static let properties: Set = ["attribute", "composite", "relationship", "fetchedProperty"]
}
