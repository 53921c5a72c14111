import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("What killed processes leave beside a store")
struct LeftoverTests {
    private let store = PhotoStore()
    private var support: URL { store.files.deletingLastPathComponent() }

    /// A file of which no row tells, as a process leaves it that is killed before it commits.
    private func makeOrphan() throws -> String {
        let name = UUID().uuidString
        try Data([1]).write(to: store.file(name))
        return name
    }

    private func note(_ names: [String], _ storeName: String = "store.sqlite") throws -> URL {
        let note = support.appendingPathComponent(".pending.\(storeName).\(UUID().uuidString)")
        try Data(names.map { $0 + "\n" }.joined().utf8).write(to: note)
        return note
    }

    private func open() throws { _ = try store.context() }

    @Test("Files that a killed transaction noted go with the next open, if no row refers to them")
    func orphans() throws {
        let used = try store.make()
        let orphan = try makeOrphan()
        let note = try note([orphan, used])
        try open()
        #expect(try store.names() == [used])
        #expect(!FileManager.default.fileExists(atPath: note.path))
    }

    @Test("A note that a living process has locked is left alone, and so are its files")
    func livingProcess() throws {
        try store.make()
        let orphan = try makeOrphan()
        let note = try note([orphan])
        let descriptor = Foundation.open(note.path, O_RDWR)
        #expect(flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        try open()
        #expect(try store.names().contains(orphan))
        close(descriptor)
        try open()
        #expect(try !store.names().contains(orphan))
    }

    @Test("While somebody writes, nothing is swept; the next to open does it")
    func writers() throws {
        try store.make()
        let orphan = try makeOrphan()
        _ = try note([orphan])
        let writer = try StoreFile.open(store.url, mode: .readWrite)
        try writer.connection.begin(.immediate)
        try open()
        #expect(try store.names().contains(orphan))
        try writer.connection.rollback()
        try open()
        #expect(try !store.names().contains(orphan))
    }

    @Test("Files that no note names stay: they may be another store's, or of a kind that is not known here")
    func strangers() throws {
        let used = try store.make()
        let orphan = try makeOrphan()
        try Data([2]).write(to: store.file("readme.txt"))
        let other = try note([orphan], "store.db")
        try open()
        #expect(try store.names() == [used, orphan, "readme.txt"])
        #expect(FileManager.default.fileExists(atPath: other.path))
    }

    @Test("A store whose name differs in the extension keeps its files when the other is destroyed or replaced")
    func sharedFolders() throws {
        let name = try store.make()
        let other = store.folder.url.appendingPathComponent("store.db")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: other)
        let empty = store.folder.url.appendingPathComponent("empty.sqlite")
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: empty)
        try coordinator.replacePersistentStore(
            at: other, destinationOptions: nil, withPersistentStoreFrom: empty, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        #expect(try store.names() == [name])
        try coordinator.destroyPersistentStore(at: other, ofType: NSSQLiteStoreType)
        #expect(try store.names() == [name])
    }

    @Test("A note cannot have a file removed that lies elsewhere")
    func hostileNotes() throws {
        try store.make()
        let precious = store.folder.url.appendingPathComponent("precious")
        try Data([1]).write(to: precious)
        _ = try note(["../../precious", "/etc/passwd"])
        try open()
        #expect(FileManager.default.fileExists(atPath: precious.path))
    }

    @Test("A store that was saved leaves no note, and neither does a save that failed")
    func notes() throws {
        let name = try store.make()
        try store.withPicture { picture, context in
            picture.setValue(PhotoStore.bytes + [1], forKey: "photo")
            try context.save()
            let bad = NSEntityDescription.insertNewObject(forEntityName: "Picture", into: context)
            bad.setValue(PhotoStore.bytes, forKey: "photo")
            bad.setValue(NSError(domain: "d", code: 1), forKey: "drawing")
            #expect(throws: NSError.self) { try context.save() }
        }
        #expect(try store.names().count == 1)
        #expect(try !store.names().contains(name))
        #expect(try FileManager.default.contentsOfDirectory(atPath: support.path) == ["_EXTERNAL_DATA"])
    }

    @Test(
        "The folders of a migration and of a copy that were killed go with the next open",
        arguments: ["migration", "copy"])
    func folders(_ purpose: String) throws {
        try store.make()
        let folder = store.folder.url.appendingPathComponent(".store.sqlite.\(purpose)")
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("1"), withIntermediateDirectories: true)
        try open()
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test("The folder of a living process is left alone")
    func livingMigration() throws {
        try store.make()
        try MigrationWorkspace.with(store.url, .copy, timeout: 0) { workspace in
            try open()
            #expect(FileManager.default.fileExists(atPath: workspace.folder.path))
        }
    }

    @Test("What a document's killed save left goes with the next open")
    func documents() throws {
        let url = store.folder.url.appendingPathComponent("notes.xml")
        let model = makeModel(makeEntity("Note", makeAttribute("text", .stringAttributeType)))
        func open() throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(ofType: NSXMLStoreType, configurationName: nil, at: url)
            return coordinator
        }
        _ = try open()
        let draft = store.folder.url.appendingPathComponent(".notes.xml.saving-\(UUID().uuidString)")
        try Data([1]).write(to: draft)
        _ = try open()
        #expect(!FileManager.default.fileExists(atPath: draft.path))
    }
}

@Suite("Who may read what is made beside a store")
struct PermissionTests {
    private let store = PhotoStore()

    private func mode(_ url: URL) throws -> mode_t {
        var status = stat()
        try #require(lstat(url.path, &status) == 0, "\(url.path)")
        return status.st_mode & 0o777
    }

    private func makeStore(_ mode: mode_t) throws {
        _ = try store.context()
        chmod(store.url.path, mode)
    }

    @Test(
        "External data have the store's permissions, and their folders, too",
        arguments: [0o600, 0o640, 0o660, 0o644] as [mode_t])
    func externalData(_ permissions: mode_t) throws {
        try makeStore(permissions)
        let name = try store.make()
        #expect(try mode(store.file(name)) == permissions)
        let folder = permissions | (permissions & 0o444) >> 2
        #expect(try mode(store.files) == folder)
        #expect(try mode(store.files.deletingLastPathComponent()) == folder)
    }

    @Test("A migration works where only those may look who may read the store")
    func migrations() throws {
        try makeStore(0o600)
        try MigrationWorkspace.with(store.url, timeout: 0) { workspace in
            #expect(try mode(workspace.folder) == 0o700)
            let place = try workspace.place(for: store.url, step: 1)
            #expect(try mode(place.deletingLastPathComponent()) == 0o700)
            #expect(try mode(place) == 0o600)
        }
        #expect(try mode(store.url) == 0o600)
    }

    @Test("A new store that replaces none has the permissions of the one that it is copied from")
    func copies() throws {
        try makeStore(0o600)
        try store.make()
        let copy = store.folder.url.appendingPathComponent("copy.sqlite")
        try NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model()).replacePersistentStore(
            at: copy, destinationOptions: nil, withPersistentStoreFrom: store.url, sourceOptions: nil,
            ofType: NSSQLiteStoreType)
        #expect(try mode(copy) == 0o600)
        #expect(try mode(ExternalData(store: copy).folder) == 0o700)
    }

    @Test("A document keeps its permissions when it is saved")
    func documents() throws {
        let url = store.folder.url.appendingPathComponent("notes.xml")
        try AtomicFile.write(Data("a".utf8), to: url)
        chmod(url.path, 0o600)
        try AtomicFile.write(Data("b".utf8), to: url)
        #expect(try mode(url) == 0o600)
        #expect(try Data(contentsOf: url) == Data("b".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder.url.path) == ["notes.xml"])
    }
}
