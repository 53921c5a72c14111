import CoreData
import ModelFiles
import StoreEngine

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
    /// - Throws: an error for bytes that are not a model.
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

/// The transformer of all transformable attributes here: their values are the bytes that the store has, in both
/// directions.
final class BytesKeeper: ValueTransformer {
    /// The name under which it is registered with its first use.
    static let name: String = {
        ValueTransformer.setValueTransformer(BytesKeeper(), forName: NSValueTransformerName("PippinKeepsBytes"))
        return "PippinKeepsBytes"
    }()

    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
        (value as? Data) ?? (value as? NSData).map { Data(referencing: $0) }
    }

    /// None: bytes without a value stay bytes.
    override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
}

extension ModelCandidate {
    /// A store that is open with one of several models.
    struct Opened {
        let candidate: ModelCandidate
        let layout: ModelLayout
        let coordinator: NSPersistentStoreCoordinator
        let store: NSPersistentStore
    }

    /// Opens a store with the first model that fits.
    ///
    /// - Parameters:
    ///   - candidates: functions that read a model each.
    ///   - facts: what the store's file says about itself.
    ///   - url: the file to open, the store's or a copy.
    ///   - options: the options to open it with. Those that take a model which is not the store's own are added.
    /// - Returns: the open store.
    /// - Throws: why the first model does not fit, which is the current version.
    static func open(
        _ candidates: [() throws -> ModelCandidate], _ facts: FileFacts, _ url: URL, _ options: [AnyHashable: Any]
    ) throws -> Opened {
        var refusal: (any Error)?
        let options = options.merging([StoreSettings.leavesOutStrangersOption: true]) { $1 }
        for read in candidates {
            do {
                let candidate = try read()
                let model = try candidate.model()
                let layout = try model.compiledLayout()
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
                let store = try coordinator.addPersistentStore(
                    ofType: facts.kind.type, configurationName: nil, at: url,
                    options: options.merging(candidate.options(for: facts)) { $1 })
                return Opened(candidate: candidate, layout: layout, coordinator: coordinator, store: store)
            } catch {
                refusal = refusal ?? error
            }
        }
        throw refusal ?? CommandError("“\(url.path)” cannot be opened: there is no model")
    }

    private func options(for facts: FileFacts) -> [AnyHashable: Any] {
        // Without version hashes, only the columns can say whether a model fits.
        guard gap != nil || facts.kind == .sqlite && facts.versionHashes.isEmpty else { return [:] }
        guard gap != nil, facts.kind != .sqlite else { return [NSIgnorePersistentStoreVersioningOption: true] }
        return [NSIgnorePersistentStoreVersioningOption: true, DocumentStore.showsAllOption: true]
    }
}

/// A model for an XML or binary store, which keeps no copy of its own: what the file says about its objects.
///
/// An XML store says the types of attributes and where relationships lead, and so does a binary one of ours; one of
/// Core Data on macOS has values whose classes say it, by place. What a damaged file has is shown, too: the model is
/// made so that each object fits it, see `DocumentStore.showsAllOption`.
enum DocumentModel {
    static func candidate(for url: URL, facts: FileFacts, reason: String) throws -> ModelCandidate {
        var contents = try DocumentStore.contents(of: url, type: facts.kind.type)
        let duplicates = contents.renumberDuplicates()
        let (document, remarks) = document(
            of: contents, isXML: facts.kind == .xml, versionHashes: facts.versionHashes)
        var shown =
            contents.objects.isEmpty
            ? ", and it has no objects"
            : contents.hasCoreDataLayout ? ", in which attributes have numbers instead of names" : ""
        if duplicates > 0 {
            shown +=
                "; \(TextTools.count(duplicates, "object")) with the number of another one "
                + (duplicates == 1 ? "has a new one" : "have new ones")
        }
        for text in remarks + contents.defects { shown += "; \(text)" }
        return ModelCandidate(
            document: document, versionHashes: [:],
            origin: "none: \(reason). Its objects are shown as the file has them\(shown)",
            gap: "\(reason); its objects are shown as the file has them\(shown)")
    }

    /// The model, and what it shows that the file does not say, or does not show, as sentences. Pure.
    static func document(
        of contents: StoreDocument, isXML: Bool, versionHashes: [String: Data] = [:]
    ) -> (document: ModelDocument, remarks: [String]) {
        let facts = DocumentFacts(of: contents, isXML: isXML, versionHashes: versionHashes)
        let found = facts.inheritance()
        var inheritance = found.inheritance
        var properties = DocumentProperties(facts, inheritance, mixed: contents.declarations.common)
        let fitted = properties.fit(to: contents, facts)
        inheritance.join(properties.groups(inheritance))
        var document = ModelDocument()
        for name in inheritance.entities {
            var entity = EntityDocument(name: name)
            entity.parentName = inheritance.parent(of: name)
            entity.isAbstract = facts.entities[name] == nil
            entity.properties = properties.properties(of: name, inheritance)
            document.entities.append(entity)
        }
        let remarks = [
            remark(inheritance, isKnown: found.isKnown),
            named(fitted).map {
                "not all values of \($0) are of the type that the file says, and another one is shown"
            },
            named(properties.clashes).map { "of the name \($0) there is a relationship, too, which is not shown" },
        ]
        return (document, remarks.compactMap { $0 })
    }

    /// The first few of some properties; nil for none.
    private static func named(_ properties: [String]) -> String? {
        guard !properties.isEmpty else { return nil }
        let rest = properties.count > TextTools.mostNamed ? ", …" : ""
        return properties.prefix(TextTools.mostNamed).map { "“\($0)”" }.joined(separator: ", ") + rest
    }

    private static func remark(_ inheritance: EntityInheritance, isKnown: Bool) -> String? {
        if !isKnown {
            return "its relationships contradict each other about which entities inherit from which, or say too much "
                + "to be followed, so that none is shown to inherit from another one of the file"
        }
        return inheritance.guess.map { entity, parent in
            "that “\(entity)” inherits from “\(parent)”, and not the other way around, is a guess"
        }
    }
}

/// The rows of `Z_MODELCACHE`. Core Data keeps one copy of the model; other programs have left several, or one of
/// another version than the metadata. Pure.
enum ModelCopies {
    /// How many bytes a model may have: an archive of it takes many times as much in memory.
    private static let largest = 8 << 20

    /// The first copy that can be read and is of the version in the metadata; if there is none, the first.
    ///
    /// - Parameters:
    ///   - copies: the copies in their stored form.
    ///   - hashed: the names of the entities that the metadata have version hashes of.
    /// - Returns: the copy; nil if there are none.
    static func current(_ copies: [Data], hashed: Set<String>) -> Data? {
        guard copies.count > 1 else { return copies.first }
        let current = copies.first { copy in
            (try? document(of: copy)).map { missing(from: $0, hashed: hashed).isEmpty } ?? false
        }
        return current ?? copies.first
    }

    /// The model of a copy.
    ///
    /// - Throws: the errors of a damaged archive.
    static func document(of copy: Data) throws -> ModelDocument {
        try ModelArchiveReader.document(of: RawDeflate.inflate(copy, limit: largest))
    }

    /// The entities that the metadata have version hashes of, and the copy does not have: it is of another version.
    static func missing(from document: ModelDocument, hashed: Set<String>) -> [String] {
        hashed.subtracting(document.entities.map(\.name)).sorted()
    }

    /// What is said of a copy of another version, without its beginning and final period; nil for one of the right one.
    static func outdatedText(_ document: ModelDocument, hashed: Set<String>) -> String? {
        let missing = missing(from: document, hashed: hashed)
        guard !missing.isEmpty else { return nil }
        let names = missing.map { "“\($0)”" }.joined(separator: ", ")
        let entities = missing.count == 1 ? "entity" : "entities"
        return "is of another version than the metadata, and lacks \(entities) \(names)"
    }
}
