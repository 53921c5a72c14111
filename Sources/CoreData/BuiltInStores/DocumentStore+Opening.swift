import CoreDataModel
import Foundation
import ModelFiles
import StoreEngine

// What is checked while a document is opened.
extension DocumentStore {
    /// Checks that no entity has a derived attribute, which this kind of store does not compute.
    ///
    /// - Throws: `NSPersistentStoreIncompatibleSchemaError` for one that does.
    func refuseDerivedAttributes() throws {
        for entity in entities {
            guard let slot = entity.derivedSlots.first else { continue }
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreIncompatibleSchema,
                "A store of type “\(type)” does not compute derived attributes such as “\(entity.name).\(entity.slots[slot].name)”; "
                    + "use an SQLite store, or keep the entity out of this one by a configuration.", url: url)
        }
    }

    /// Compares the version hashes of the file and the model. The file has no copy of its model, so hashes made by
    /// different programs cannot be compared; entities and properties that the model does not have are found when the
    /// file is read.
    func checkVersion(of model: NSManagedObjectModel, _ url: URL) throws {
        let stored = StoreMetadata.hashes(in: metadata)
        guard !stored.isEmpty else { return }
        let storeIsOurs = metadata[StoreMetadata.ownHashesKey] != nil
        let entities = model.entities(forConfigurationName: configurationName) ?? model.entities
        let names = Set(entities.compactMap(\.name))
        let changed = entities.filter { entity in
            guard let hash = stored[entity.name ?? ""] else { return true }
            return hash != entity.versionHash && storeIsOurs == (entity.recordedVersionHash == nil)
        }
        let differences = Set(stored.keys).subtracting(names).union(changed.compactMap(\.name)).sorted()
        if !differences.isEmpty { throw StoreCompatibility.error(differences, metadata: metadata, url: url) }
    }

    /// Whether Core Data on macOS wrote the file, and the model was compiled here: only what the file holds tells then
    /// whether they fit.
    var hasForeignHashes: Bool {
        !StoreMetadata.hashes(in: metadata).isEmpty && metadata[StoreMetadata.ownHashesKey] == nil
            && entities.contains { $0.description.recordedVersionHash == nil }
    }

    /// Whether entities and properties that the model does not have mean that it is another one, and not that the file
    /// is damaged. The metadata of Mac OS X 10.4 have no hashes.
    var mayBeOfAnotherModel: Bool { hasForeignHashes || StoreMetadata.hashes(in: metadata).isEmpty }

    var entityNames: Set<String>? {
        persistentStoreCoordinator?.managedObjectModel.entityNames(inConfiguration: configurationName)
    }

    var entities: [EntityLayout] {
        let names = entityNames
        return (persistentStoreCoordinator?.modelLayout.entities ?? []).filter { names?.contains($0.name) ?? true }
    }

    func documentNodes() throws -> DocumentNodes {
        do {
            let showsAll = showsAll
            func spelled(_ name: String) -> String { showsAll ? name : Self.fileName(ofEntity: name) }
            func propertySpelled(_ name: String) -> String { showsAll ? name : Self.fileName(ofProperty: name) }
            var nodes = try DocumentNodes(
                entities, spelling: spelled, propertySpelling: propertySpelled, identity: identity)
            nodes.decoding = decoding
            nodes.showsAll = showsAll
            return nodes
        } catch { throw Self.error(CoreDataErrorCode.persistentStoreOpen, "cannot hold the model", error, url) }
    }

    /// Gives the objects' entities the names that the model has for them: a damaged file may spell one in two ways.
    func spellEntities(of document: inout StoreDocument) {
        let names = Set(entities.map(\.name))
        let spellings = Dictionary(
            entities.map { (Self.fileName(ofEntity: $0.name), $0.name) }, uniquingKeysWith: { first, _ in first })
        for index in document.objects.indices where !names.contains(document.objects[index].entityName) {
            guard let name = spellings[document.objects[index].entityName] else { continue }
            document.objects[index].entityName = name
        }
    }

    /// The option of tools that show a file by a model made for it, without changing it: names are spelled as in the
    /// file, texts have any value, and an object with the number of another one gets a new one.
    package static let showsAllOption = "PippinShowsAll"

    var showsAll: Bool { isReadOnly && StoreSettings.flag(options, Self.showsAllOption) }

    /// Whether an attribute of a type can have a value of a file.
    package static func reads(_ value: StoreDocument.FileValue, as type: NSAttributeType) -> Bool {
        FileValues.isReadable(value, as: type)
    }

    /// The store's options for transformable attributes.
    var decoding: TransformableCoding.Options {
        let classes = options?[NSBinaryStoreSecureDecodingClasses]
        var decoding = TransformableCoding.Options(
            classes: classes as? [AnyClass] ?? [],
            allowsAllClasses: StoreSettings.flag(options, NSBinaryStoreInsecureDecodingCompatibilityOption))
        decoding.keepsBytes = StoreSettings.flag(options, StoreSettings.isCopiedOption)
        return decoding
    }

    func checkOtherVersions(_ document: StoreDocument) throws {
        guard let url, let model = persistentStoreCoordinator?.managedObjectModel,
            StoreSettings.asksForMigration(options)
        else { return }
        try DocumentMigration(
            store: Self.self, url: url, model: model, configuration: configurationName, options: options
        ).checkPlaces(of: document)
    }

    /// Checks that a file which does not name its attributes, and does not say its version, has the same ones in all
    /// versions of the model with which it is read.
    ///
    /// - Parameter versions: the versions of the model.
    /// - Throws: 134130 if it does not, so that values may be under the names of others.
    package func checkVersion(among versions: @autoclosure () throws -> [KnownVersion]) throws {
        guard hasUnclearVersion, let url, let model = persistentStoreCoordinator?.managedObjectModel else { return }
        try DocumentMigration(
            store: Self.self, url: url, model: model, configuration: configurationName, options: nil
        ).checkPlaces(of: Self.read(url), in: model, among: KnownVersions(versions()))
    }

    /// Makes new objects get keys after a given one.
    ///
    /// - Throws: 259 if no keys are left after it, which only happens in a damaged store.
    func count(to key: Int64) throws {
        guard key < NSManagedObjectID.greatestKey else {
            throw Self.damaged(url, FileValues.Failure(reason: "object \(key) leaves no number for others"))
        }
        lastKey = max(lastKey, key)
    }
}
