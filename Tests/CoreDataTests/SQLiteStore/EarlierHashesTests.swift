import CoreData
import Foundation
import TestSupport
import Testing

@Suite("Stores of earlier builds, whose version hashes were computed otherwise")
struct EarlierHashesTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Makes a store, and gives its entities other hashes of ours.
    private func makeStore() throws {
        let context = try Library.stored(at: folder.store).newBackgroundContext()
        try context.performAndWait {
            context.make("Tag", ["name": "novel"])
            try context.save()
        }
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: folder.store)
        let hashes = try #require(metadata["NSStoreModelVersionHashes"] as? [String: Data])
        metadata["NSStoreModelVersionHashes"] = hashes.mapValues { _ in Data(repeating: 7, count: 32) }
        metadata = metadata.filter { $0.key.hasPrefix("NSStore") || $0.key == "PippinVersionHashes" }
        let list = try PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0)
        let bytes = list.map { String(format: "%02X", $0) }.joined()
        try execute("UPDATE Z_METADATA SET Z_PLIST = X'\(bytes)'", in: folder.store)
    }

    @Test("fit the model that they have a copy of, and open without a migration")
    func fit() throws {
        try makeStore()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: folder.store)
        #expect(Library.model().isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
    }

    @Test("do not fit another one")
    func other() throws {
        try makeStore()
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(
            ofType: NSSQLiteStoreType, at: folder.store)
        let model = Library.model()
        model.entitiesByName["Tag"]?.attributesByName["name"]?.isOptional = false
        #expect(!model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }
}
