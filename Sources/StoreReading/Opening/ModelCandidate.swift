import CoreData
import KeyedArchives

/// A model with which a store may be read, and its origin.
package struct ModelCandidate {
    package let document: ModelDocument
    /// The version hashes that came with it; if empty, they are computed.
    package let versionHashes: [String: Data]
    /// The origin of the model, as the end of a sentence.
    package let origin: String
    /// What is not known without the model that the store was made with, as a sentence without its final period; nil
    /// if this is that model.
    package let gap: String?
    /// The name of its version in a model file.
    package var versionName = ""

    package init(
        document: ModelDocument, versionHashes: [String: Data], origin: String, gap: String? = nil,
        versionName: String = ""
    ) {
        (self.document, self.versionHashes, self.origin, self.gap) = (document, versionHashes, origin, gap)
        self.versionName = versionName
    }

    /// The models to try: the store's own copy, or the versions of a model file, the current one first. Each is read
    /// when it is tried, and one that cannot be read does not affect the others. Without a model, an XML or binary
    /// store is read with what its file says.
    ///
    /// - Parameters:
    ///   - facts: what the store's file says about itself.
    ///   - store: the store, by which errors name it.
    ///   - file: the file to read, the store's or a copy.
    ///   - modelPath: the model's path; nil for the store's own copy.
    ///   - isWritable: whether the store is to be changed, which takes its real model.
    /// - Returns: functions that read a model each.
    /// - Throws: an error naming the file, or `NoModel` if the store has no copy of its model.
    package static func candidates(
        for facts: FileFacts, store: URL, file: URL, modelPath: String?, isWritable: Bool = false
    ) throws -> [() throws -> ModelCandidate] {
        if let modelPath {
            let versions = try candidates(inFile: modelPath)
            let trusted = versions.map { read in { try read().limited(to: facts).trusted(for: facts) } }
            if facts.kind == .sqlite { return trusted }
            // Documents are compared by what they hold, too. One that is only read may be of a version that is not
            // there: its names tell what the values are.
            return isWritable || !facts.namesProperties ? versions : versions + trusted
        }
        do {
            let own = try copy(in: facts, store: store).limited(to: facts)
            return [{ own }]
        } catch let error as NoModel where facts.kind != .sqlite && !isWritable {
            return [{ try DocumentModel.candidate(for: file, facts: facts, reason: error.reason) }]
        }
    }

    /// A store has no readable model of its own.
    package struct NoModel: Error {
        /// The reason, as a sentence without its final period.
        package let reason: String
    }

    /// The copy that a store keeps.
    ///
    /// - Throws: `NoModel` if there is none, or it is damaged or of another version.
    package static func copy(in facts: FileFacts, store: URL) throws -> ModelCandidate {
        guard let cache = facts.modelCache else {
            throw NoModel(reason: "“\(store.path)” keeps no copy of its model")
        }
        do {
            let document = try ModelCopies.document(of: cache)
            if let text = ModelCopies.outdatedText(document, hashed: Set(facts.versionHashes.keys)) {
                throw NoModel(reason: "the copy of its model that “\(store.path)” keeps \(text)")
            }
            let names = facts.versionIdentifiers.map { "“\($0)”" }.joined(separator: ", ")
            let origin = "the copy that the store keeps" + (names.isEmpty ? "" : ", version \(names)")
            return ModelCandidate(document: document, versionHashes: facts.versionHashes, origin: origin)
        } catch let error as NoModel {
            throw error
        } catch {
            let reason = TextTools.withoutPeriod((error as? ModelFileError)?.reason ?? "\(error)")
            let isUnknown = (error as? KeyedArchiveError)?.unknownClass != nil
            throw NoModel(
                reason:
                    "the copy of its model that “\(store.path)” keeps \(isUnknown ? "cannot be read" : "is damaged") "
                    + "(\(reason))")
        }
    }

    /// What is damaged in a store's copy of its model; nil if it can be read, or has objects that only another program
    /// knows.
    static func damage(of cache: Data) -> String? {
        do { _ = try ModelCopies.document(of: cache) } catch {
            guard (error as? KeyedArchiveError)?.unknownClass == nil else { return nil }
            return TextTools.withoutPeriod((error as? ModelFileError)?.reason ?? "\(error)")
        }
        return nil
    }

    /// Reads a store's copy of its model from its stored bytes.
    ///
    /// - Throws: an error for bytes that are no model.
    package init(cache: Data, origin: String) throws {
        document = try ModelCopies.document(of: cache)
        versionHashes = [:]
        self.origin = origin
        gap = nil
    }

    /// The current version of a model file.
    ///
    /// - Throws: an error naming the file.
    package static func file(at path: String) throws -> ModelCandidate {
        guard let first = try candidates(inFile: path).first else { throw CommandError("“\(path)” has no model") }
        return try first()
    }

    private static func candidates(inFile path: String) throws -> [() throws -> ModelCandidate] {
        let package = try ModelPackage(at: URL(fileURLWithPath: path))
        // Where the current version is not known, the first to be tried says why.
        var names: [String?] = package.versions.map(\.name).filter { !package.isCurrent($0) }
        names.insert(try? package.currentVersionName, at: 0)
        return names.map { name in
            {
                let name = try name ?? package.currentVersionName
                return ModelCandidate(
                    document: try package.document(version: name), versionHashes: package.recordedHashes(version: name),
                    origin: "“\(package.url.lastPathComponent)”" + (names.count > 1 ? ", version “\(name)”" : ""),
                    versionName: name)
            }
        }
    }

    /// With the part of the model that the store has.
    private func limited(to facts: FileFacts) -> ModelCandidate { facts.part(of: document).map(with) ?? self }

    /// With the part of the model that a store has whose version hashes are those of some entities.
    package func limited(to names: Set<String>) -> ModelCandidate { document.limited(to: names).map(with) ?? self }

    private func with(_ document: ModelDocument) -> ModelCandidate {
        ModelCandidate(
            document: document, versionHashes: versionHashes, origin: origin, gap: gap, versionName: versionName)
    }

    /// Apple's version hashes cannot be computed for a source model, and are compared with the store's own copy of its
    /// model instead. If there is none, the names of the entities and the columns must suffice: the candidate takes
    /// over the store's hashes.
    private func trusted(for facts: FileFacts) -> ModelCandidate {
        let hashed = Set(facts.versionHashes.keys)
        let copy = facts.modelCache.flatMap { try? ModelCopies.document(of: $0) }
        guard versionHashes.isEmpty, copy.map({ ModelCopies.missing(from: $0, hashed: hashed).isEmpty }) != true,
            Set(document.entities.map(\.name)) == hashed
        else { return self }
        return ModelCandidate(
            document: document, versionHashes: facts.versionHashes, origin: origin, versionName: versionName)
    }

    /// The model to open the store with. Values of transformable attributes stay bytes: their transformers and classes
    /// belong to the program that made the store.
    package func model() throws -> NSManagedObjectModel {
        var document = document
        for entity in document.entities.indices {
            for property in document.entities[entity].properties.indices {
                Self.keepBytes(of: &document.entities[entity].properties[property])
            }
        }
        return try ModelFileError.naming(nil) { try ModelAssembler.model(document, versionHashes: versionHashes) }
    }

    /// Gives a transformable attribute, or the elements of a composite one, the transformer that keeps bytes.
    private static func keepBytes(of property: inout PropertyDocument) {
        guard var attribute = property.attribute else { return }
        switch attribute.type {
        case .transformableAttributeType:
            attribute.valueTransformerName = BytesKeeper.name
            attribute.defaultValue = nil
        case .compositeAttributeType:
            for index in attribute.elements.indices { keepBytes(of: &attribute.elements[index]) }
        default: return
        }
        property.kind = .attribute(attribute)
    }
}
