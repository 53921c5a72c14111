import Foundation

/// An atomic store in one file: the common part of XML and binary stores.
package class DocumentStore: NSAtomicStore, @unchecked Sendable {
    // @unchecked Sendable: used only under the coordinator's lock, like its superclass.

    /// The document that was read when the store was opened, until it has been converted to nodes.
    private(set) var document: StoreDocument?
    var lastKey = StoreDocument.firstKey
    /// The layout of the file, which its next save keeps.
    private var hasCoreDataLayout = false
    /// The places of values in a binary file of Core Data on macOS.
    private var order = PlaceOrder()
    /// Whether the file is of this version or another one with as many properties.
    private(set) var hasUnclearVersion = false
    /// The state of the file when it was last read or written here.
    private var state: FileState?
    /// Whether the store got another URL, where its next save replaces what is there.
    private var isMoved = false

    // MARK: What formats override

    /// The name of the format in errors.
    class var formatName: String { "document" }

    /// The spelling of an entity's name in the file.
    class func fileName(ofEntity name: String) -> String { name }

    /// The spelling of a property's name in the file.
    class func fileName(ofProperty name: String) -> String { name }

    /// Reads a file.
    ///
    /// - Throws: an error that says what is wrong with the file.
    class func document(of data: Data) throws -> StoreDocument { throw FileValues.Failure(reason: "it has no format") }

    /// Reads the metadata of a file, without its objects if the format allows that.
    ///
    /// - Throws: an error that says what is wrong with the file.
    class func metadata(of data: Data) throws -> [String: Any] { try document(of: data).metadata }

    /// The bytes of a document.
    ///
    /// - Parameters:
    ///   - document: the store's metadata and objects.
    ///   - entities: the entities of the objects, by the names that the document uses.
    ///   - order: the places in a file that has values by place.
    /// - Returns: the content of the store's file.
    /// - Throws: an error if a value cannot be written in this format.
    class func data(
        of document: StoreDocument, entities: [String: EntityLayout], order: PlaceOrder
    ) throws -> Data {
        throw FileValues.Failure(reason: "it has no format")
    }

    /// The bytes of a file with other metadata, and otherwise unchanged: there is no model with the types of values
    /// and the destinations of relationships.
    ///
    /// - Parameters:
    ///   - document: the file's content.
    ///   - data: the file.
    ///   - metadata: the new metadata.
    /// - Returns: the content of the store's file.
    /// - Throws: an error if the metadata cannot be written in this format.
    class func replacingMetadata(
        of document: StoreDocument, in data: Data, by metadata: [String: Any]
    ) throws -> Data {
        var document = document
        document.metadata = metadata
        return try self.data(of: document, entities: [:], order: PlaceOrder())
    }

    // MARK: Opening

    package override func loadMetadata() throws {
        guard let model = persistentStoreCoordinator?.managedObjectModel, let url, url.isFileURL else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen,
                "A store of type “\(type)” needs a coordinator with a model, and a file URL; it got "
                    + "“\(url?.withoutPassword.absoluteString ?? "nothing")”.")
        }
        try refuseDerivedAttributes()
        if !showsAll { _ = try documentNodes() }
        state = try FileState(of: url)
        // An empty file reserves the place of a store that has yet to be made.
        guard let state, !state.isEmpty else {
            if isReadOnly { throw Self.missing(url) }
            let names = entityNames
            storedMetadata = StoreMetadata.make(for: model, entityNames: names, type: type)
            storedMetadata[NSStoreUUIDKey] = identity.uuid
            // As in Core Data, the file exists once the store has been added.
            return try save()
        }
        var document = try showsAll ? Self.contents(of: url, type: type) : Self.read(url)
        if showsAll {
            _ = document.renumberDuplicates()
            spellEntities(of: &document)
        }
        metadata = document.metadata
        if !StoreSettings.flag(options, NSIgnorePersistentStoreVersioningOption) {
            try checkVersion(of: model, url)
            if document.hasCoreDataLayout, mayBeOfAnotherModel {
                hasUnclearVersion = try Self.checkIdentifiers(of: model, metadata, url) == nil
            }
        }
        self.document = document
        hasCoreDataLayout = document.hasCoreDataLayout
        if hasCoreDataLayout { lastKey = 0 }
    }

    package override func load() throws {
        guard let document else { return }
        do {
            let (nodes, order) = try documentNodes().nodes(of: document)
            self.order = order
            if hasUnclearVersion { try checkOtherVersions(document) }
            add(nodes)
        } catch let failure as FileValues.Failure {
            if failure.isAmbiguous {
                throw Self.error(CoreDataErrorCode.persistentStoreOpen, "cannot be read", failure, url)
            }
            throw failure.isMisfit && mayBeOfAnotherModel ? Self.misfit(url, failure) : Self.damaged(url, failure)
        }
        // What is only shown gets no more objects.
        if !showsAll { try count(to: max(document.lastKey, document.objects.map(\.key).max() ?? 0)) }
        self.document = nil
    }

    // MARK: Saving

    package override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        lastKey += 1
        return NSNumber(value: lastKey)
    }

    override func makePermanentIdentifiers(for entities: [EntityLayout]) throws -> [NSManagedObjectID] {
        entities.map { entity in
            lastKey += 1
            return NSManagedObjectID(layout: entity, store: identity, key: lastKey)
        }
    }

    /// Adds rows that come from another store.
    override func add(_ changes: ChangeSet) throws -> SaveResult {
        guard changes.updated.isEmpty, changes.deleted.isEmpty else { return try super.add(changes) }
        let nodes = changes.inserted.map { NSAtomicStoreCacheNode(objectID: $0.objectID) }
        add(nodes)
        for (node, change) in zip(nodes, changes.inserted) { try fill(node, change) }
        try count(to: nodes.map(\.objectID.key).max() ?? 0)
        try save()
        return SaveResult()
    }

    private func fill(_ node: NSAtomicStoreCacheNode, _ change: RowChange) throws {
        node.version = change.version &+ 1
        for (slot, value) in zip(change.objectID.layout.slots, change.values) where !slot.isTransient {
            switch slot.kind {
            case .attribute(let attribute):
                if let missing = value.missingContent {
                    throw StoreError.make(
                        CocoaError.Code.fileReadNoSuchFile.rawValue,
                        "“\(change.objectID.layout.name).\(slot.name)” cannot be copied: \(missing.sentence)",
                        url: missing.file)
                }
                node.setValue(value.nodeValue(for: attribute), forKey: slot.name)
            case .toOne:
                guard case .identifier(let identifier) = value else { continue }
                node.setValue(cacheNode(for: identifier), forKey: slot.name)
            }
        }
        for toMany in change.toManyChanges {
            let destinations = (toMany.order ?? toMany.added).compactMap { cacheNode(for: $0) }
            let isOrdered = toMany.relationship.isOrdered
            node.setValue(
                isOrdered ? NSOrderedSet(array: destinations) : Set(destinations), forKey: toMany.relationship.name)
        }
    }

    /// Writes the file as a whole, by way of a draft beside it.
    package override func save() throws {
        guard let url else { return }
        try checkState(of: url)
        let data: Data
        do { data = try makeData() } catch {
            throw Self.error(CoreDataErrorCode.persistentStoreSave, "cannot be saved", error, url)
        }
        try AtomicFile.locked(url) {
            // Once more, since another process may have saved while the data were made.
            try checkState(of: url)
            do { try AtomicFile.write(data, to: url) } catch {
                throw Self.error(CoreDataErrorCode.persistentStoreSave, "cannot be saved", error, url)
            }
            state = try FileState(of: url)
        }
        isMoved = false
    }

    /// Checks that the file was not changed by others.
    ///
    /// - Throws: `NSPersistentStoreSaveError` if it was written since it was last read or written here.
    private func checkState(of url: URL) throws {
        let found = try FileState(of: url)
        let isNew = (state?.isEmpty ?? true) && (found?.isEmpty ?? true)
        if found == state || isNew || isMoved { return }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreSave,
            "“\(url.lastPathComponent)” was changed by somebody else since it was read; saving would lose that.",
            url: url, suggestion: "Open the store again, and save your changes into what it holds then.")
    }

    private func makeData() throws -> Data {
        let nodes = try documentNodes()
        var document = StoreDocument(metadata: storedMetadata, lastKey: lastKey)
        document.hasCoreDataLayout = hasCoreDataLayout
        document.objects = try allNodes.map { try nodes.object(of: $0) }
        let byName = Dictionary(
            entities.map { (Self.fileName(ofEntity: $0.name), $0) }, uniquingKeysWith: { first, _ in first })
        return try Self.data(of: document, entities: byName, order: order)
    }

    package override func relocate(to url: URL) throws {
        try super.relocate(to: url)
        state = nil
        isMoved = true
    }

    // MARK: Files

    package override class var takesRows: Bool { true }

    package override class func automaticMigration(
        of url: URL, to model: NSManagedObjectModel, configuration: String?, options: [AnyHashable: Any]?
    ) -> (() throws -> Void)? {
        let migration = DocumentMigration(
            store: self, url: url, model: model, configuration: configuration, options: options)
        return migration.run
    }

    package override class func removeLeftovers(of url: URL) {
        MigrationWorkspace.removeLeftovers(of: url)
        AtomicFile.removeLeftovers(of: url)
    }

    package override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        guard try FileState(of: url) != nil else { throw missing(url) }
        return try read(url, metadata(of:))
    }

    package override class func setMetadata(_ metadata: [String: Any]?, forPersistentStoreAt url: URL) throws {
        guard try FileState(of: url) != nil else { throw missing(url) }
        try AtomicFile.locked(url) {
            let file: Data
            do { file = try Data(contentsOf: url) } catch {
                throw self.error(CocoaError.Code.fileReadUnknown.rawValue, "cannot be read", error, url)
            }
            let document: StoreDocument
            do { document = try self.document(of: file) } catch { throw damaged(url, error) }
            // Metadata that Core Data needs are kept if the new metadata lack them.
            let reserved = document.metadata.filter { StoreMetadata.isReserved($0.key) }
            let all = (metadata ?? [:]).merging(reserved) { new, _ in new }
            do { try AtomicFile.write(replacingMetadata(of: document, in: file, by: all), to: url) } catch {
                throw self.error(CoreDataErrorCode.persistentStoreSave, "cannot be saved", error, url)
            }
        }
    }

    package override class func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        guard try FileState(of: url) != nil else { return }
        try AtomicFile.locked(url) { try FileManager.default.removeItem(at: url) }
    }

    package override class func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        guard try FileState(of: destination) != nil else { return try write(from: source, to: destination) }
        try AtomicFile.locked(destination) { try write(from: source, to: destination) }
    }
}

// Reading and replacing the file of a store, and the errors of doing so.
extension DocumentStore {
    /// The content of a store's file with all that it says about properties, for tools that have no model.
    ///
    /// - Parameters:
    ///   - url: the file of the store.
    ///   - type: the type of XML or binary stores.
    /// - Returns: the metadata and all objects of the file. Values that the file has by place have no names. Of a file
    ///   that is damaged, what is left, and its defects.
    /// - Throws: 259 if nothing is left, or the file is no such store.
    package static func contents(of url: URL, type: String) throws -> StoreDocument {
        if type == NSXMLStoreType {
            return try XMLStore.read(url) { try XMLStoreReader.document(of: $0, showingAll: true) }
        }
        return try BinaryStore.read(url) { data in
            var document = try BinaryStore.document(of: data, showingAll: true)
            for index in document.objects.indices where document.objects[index].entityName.isEmpty {
                document.objects[index].entityName = StoreDocument.unnamed
            }
            if document.hasCoreDataLayout {
                document.declarations = StoreDeclarations(placesOf: document)
            } else if document.declarations.entities.isEmpty {
                document.declarations = StoreDeclarations(valuesOf: document)
            }
            return document
        }
    }

    static func read(_ url: URL) throws -> StoreDocument { try read(url, document(of:)) }

    static func read<Content>(_ url: URL, _ body: (Data) throws -> Content) throws -> Content {
        let data: Data
        do { data = try Data(contentsOf: url) } catch {
            throw self.error(CocoaError.Code.fileReadUnknown.rawValue, "cannot be read", error, url)
        }
        do { return try body(data) } catch { throw damaged(url, error) }
    }

    /// Replaces a file, whose lock the caller has, by a copy of another one.
    static func write(from source: URL, to destination: URL) throws {
        guard try FileState(of: source) != nil else { throw missing(source) }
        _ = try read(source)
        try AtomicFile.write(Data(contentsOf: source), to: destination)
    }

    /// Compares the identifiers of a file's version with those of the model: values without names can be read with
    /// another version that has as many attributes.
    ///
    /// - Returns: whether they agree; nil if one of them has none.
    /// - Throws: 134100 if they do not.
    static func checkIdentifiers(
        of model: NSManagedObjectModel, _ metadata: [String: Any], _ url: URL
    ) throws -> Bool? {
        let known = Set(model.versionIdentifiers.compactMap { $0.base as? String }).subtracting([""])
        let list = metadata[NSStoreModelVersionIdentifiersKey]
        let stored = Set(list as? [String] ?? (list as? Set<String>).map { Array($0) } ?? []).subtracting([""])
        if known.isEmpty || stored.isEmpty { return nil }
        guard known.isDisjoint(with: stored) else { return true }
        func text(_ identifiers: Set<String>) -> String { identifiers.sorted().joined(separator: ", ") }
        throw misfit(
            url, FileValues.Failure(reason: "it is of version “\(text(stored))”, and the model of “\(text(known))”"))
    }

    static func missing(_ url: URL) -> NSError {
        StoreError.make(CocoaError.Code.fileReadNoSuchFile.rawValue, "There is no store “\(url.path)”.", url: url)
    }

    static func misfit(_ url: URL?, _ failure: FileValues.Failure) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreIncompatibleVersionHash,
            "The model does not fit the store “\(url?.lastPathComponent ?? "")”: \(failure.reason). Open it with the version "
                + "of the model that made it, or migrate it.", url: url)
    }

    static func damaged(_ url: URL?, _ error: any Error) -> NSError {
        self.error(CocoaError.Code.fileReadCorruptFile.rawValue, "is damaged, or no such store", error, url)
    }

    static func error(_ code: Int, _ what: String, _ error: any Error, _ url: URL?) -> NSError {
        let reason = (error as? FileValues.Failure)?.reason ?? (error as NSError).localizedDescription
        return StoreError.make(
            code,
            "The \(formatName) store “\(url?.lastPathComponent ?? "")” \(what): \(reason).",
            url: url, underlying: error is FileValues.Failure ? nil : error)
    }
}

/// A state of a file, to detect whether it has changed since it was read.
struct FileState: Equatable {
    private let date: Date?
    private let size: UInt64
    private let number: UInt64

    /// Whether the file is empty.
    var isEmpty: Bool { size == 0 }

    /// `nil` if there is no file.
    init?(of url: URL) throws {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        date = attributes[.modificationDate] as? Date
        size = (attributes[.size] as? NSNumber)?.uint64Value ?? 0
        number = (attributes[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
    }
}
