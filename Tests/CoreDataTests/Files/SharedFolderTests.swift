import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLiteEngine

@Suite("Stores whose names differ in the extension only, and have their large values in one folder")
struct SharedFolderTests {
    private let store = PhotoStore()
    private let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model())

    private var copy: URL { store.folder.file("store.backup") }

    private func replace(_ destination: URL, by source: URL) throws {
        try coordinator.replacePersistentStore(at: destination, withPersistentStoreFrom: source, type: .sqlite)
    }

    /// The value in a store, in a context of its own.
    private func photo(in url: URL) throws -> Data? {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model())
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait {
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Picture")).first?.value(forKey: "photo")
                as? Data
        }
    }

    /// Makes a copy as earlier versions did, which names the files of the original.
    private func makeCopyWithTheSameFiles() throws {
        try execute("PRAGMA wal_checkpoint(TRUNCATE)", in: store.url)
        try FileManager.default.copyItem(at: store.url, to: copy)
    }

    @Test("Copying a store that is open leaves the locks of those who have it open", .enabled(if: FileLocks.areListed))
    func locks() throws {
        try store.make()
        let writer = try Connection(path: store.url.path, mode: .readWrite)
        try writer.begin(.immediate)
        let before = try FileLocks.held(on: store.url.path + "-shm")
        #expect(before.count > 1)
        try replace(store.folder.file("copy.sqlite"), by: store.url)
        #expect(try FileLocks.held(on: store.url.path + "-shm") == before)
        try writer.rollback()
    }

    @Test("A copy beside the store has files of its own: neither loses its values when the other is destroyed")
    func copies() throws {
        let name = try store.make()
        try replace(copy, by: store.url)
        #expect(try store.names().count == 2)
        #expect(try photo(in: copy) == PhotoStore.bytes)
        try replace(copy, by: store.url)
        #expect(try store.names().count == 2)
        try coordinator.destroyPersistentStore(at: copy, type: .sqlite)
        #expect(try store.names() == [name])
        #expect(try photo(in: store.url) == PhotoStore.bytes)
        try replace(copy, by: store.url)
        try coordinator.destroyPersistentStore(at: store.url, type: .sqlite)
        #expect(try photo(in: copy) == PhotoStore.bytes)
    }

    @Test("A copy beside the store keeps other programs' triggers, which do not fire for it")
    func triggers() throws {
        try store.make()
        try execute(
            "CREATE TABLE NOTES (TEXT); "
                + "CREATE TRIGGER MINE AFTER UPDATE ON ZPICTURE BEGIN INSERT INTO NOTES VALUES (1); END", in: store.url)
        try replace(copy, by: store.url)
        #expect(try plainSQL("SELECT COUNT(*) FROM NOTES", in: copy) == ["0"])
        #expect(try plainSQL("SELECT name FROM sqlite_master WHERE type = 'trigger'", in: copy) == ["MINE"])
        #expect(try photo(in: copy) == PhotoStore.bytes)
    }

    @Test("A file that two stores name stays when one of them is destroyed, replaced, or saves another value")
    func sharedFiles() throws {
        let name = try store.make()
        try makeCopyWithTheSameFiles()
        try coordinator.destroyPersistentStore(at: copy, type: .sqlite)
        #expect(try store.names().contains(name))
        try FileManager.default.removeItem(at: copy)
        try makeCopyWithTheSameFiles()
        try store.withPicture { picture, context in
            picture.setValue(Data([1]), forKey: "photo")
            try context.save()
        }
        #expect(try photo(in: copy) == PhotoStore.bytes)
        let empty = store.folder.file("empty.sqlite")
        _ = try photo(in: empty)
        try replace(store.url, by: empty)
        #expect(try photo(in: copy) == PhotoStore.bytes)
    }

    @Test("A migration that fails leaves the files of the store that it reads")
    func failedMigration() throws {
        let name = try store.make()
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: PhotoStore.model(), destinationModel: PhotoStore.model())
        for entity in mapping.entityMappings ?? [] {
            entity.mappingType = .customEntityMappingType
            entity.entityMigrationPolicyClassName = "CoreDataTests.RefusingPolicy"
        }
        let manager = NSMigrationManager(sourceModel: PhotoStore.model(), destinationModel: PhotoStore.model())
        #expect(throws: (any Error).self) {
            try manager.migrateStore(
                from: store.url, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
                toDestinationURL: store.folder.file("store.new"), destinationType: NSSQLiteStoreType,
                destinationOptions: nil)
        }
        #expect(try store.names() == [name])
        #expect(try photo(in: store.url) == PhotoStore.bytes)
    }

    @Test("A store is replaced by one with pages of another size, and keeps its own")
    func pages() throws {
        try store.make()
        let other = store.folder.file("other.sqlite")
        do {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model())
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: other,
                options: [NSSQLitePragmasOption: ["page_size": "8192"]])
        }
        try replace(other, by: store.url)
        #expect(try photo(in: other) == PhotoStore.bytes)
        #expect(try plainSQL("PRAGMA page_size", in: other) == ["8192"])
        #expect(try plainSQL("PRAGMA journal_mode", in: other) == ["wal"])
    }
}

/// A policy that migrates nothing. The runtime finds it by name.
final class RefusingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        throw CocoaError(.userCancelled)
    }
}

@Suite("Files of large values that others still read")
struct UnreadFilesTests {
    private let store = PhotoStore()

    @Test("A pinned context reads its generation's value after another was saved; its file goes later")
    func pinned() throws {
        try store.make()
        do {
            let pinned = try store.context()
            try pinned.setQueryGenerationFrom(.current)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Picture")
            request.includesPropertyValues = false
            let photo = try pinned.performAndWait { () throws -> Data? in
                let picture = try #require(try pinned.fetch(request).first)
                try store.withPicture { picture, context in
                    picture.setValue(Data(PhotoStore.bytes.reversed()), forKey: "photo")
                    try context.save()
                }
                return picture.value(forKey: "photo") as? Data
            }
            #expect(photo == PhotoStore.bytes)
            #expect(try store.names().count == 2)
        }
        _ = try store.context()
        #expect(try store.names().count == 1)
    }

    @Test("A destroyed store is empty at once, though a context is pinned to what was in it")
    func destroying() throws {
        try store.make()
        let pinned = try store.context()
        try pinned.setQueryGenerationFrom(.current)
        try pinned.performAndWait { () throws in
            #expect(try pinned.count(for: NSFetchRequest<NSManagedObject>(entityName: "Picture")) == 1)
            try NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model()).destroyPersistentStore(
                at: store.url, type: .sqlite, options: [NSPersistentStoreTimeoutOption: 1])
        }
        #expect(try plainSQL("SELECT name FROM sqlite_master", in: store.url) == [])
        #expect(try store.names() == [])
    }
}
