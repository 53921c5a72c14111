import CoreData
import Foundation
import TestSupport
import Testing

@Suite("A store that is opened by a symbolic link, or under another spelling")
struct LinkedStoreTests {
    private let folder: TestFolder
    private let link: URL
    private var file: URL { folder.file("real/store.sqlite") }

    init() throws {
        folder = try TestFolder()
        link = folder.file("links/other.sqlite")
        for name in ["real", "links"] {
            try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: true)
        }
        try close(coordinator(file))
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
    }

    private func coordinator(_ url: URL, _ options: [AnyHashable: Any] = [:]) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: PhotoStore.model())
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        return coordinator
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func context(_ url: URL) throws -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = try coordinator(url)
        return context
    }

    private func save(_ url: URL) throws {
        let context = try context(url)
        try context.performAndWait {
            context.make("Picture", ["title": "Sea", "photo": PhotoStore.bytes])
            try context.save()
        }
    }

    private func photos(_ url: URL) throws -> [Data?] {
        let context = try context(url)
        return try context.performAndWait {
            try context.all("Picture").map { $0.value(forKey: "photo") as? Data }
        }
    }

    @Test("A large value that is saved by the link is there by the file's name, and the other way round")
    func largeValues() throws {
        try save(link)
        #expect(try photos(file) == [PhotoStore.bytes])
        try save(file)
        #expect(try photos(link) == [PhotoStore.bytes, PhotoStore.bytes])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("links").path) == ["other.sqlite"])
    }

    @Test("Large values that an earlier build kept beside the link are read by the link")
    func earlier() throws {
        try save(file)
        try FileManager.default.moveItem(
            at: folder.file("real/.store_SUPPORT"), to: folder.file("links/.other_SUPPORT"))
        #expect(try photos(link) == [PhotoStore.bytes])
    }

    @Test("A coordinator takes one store once, whatever it is called: 134081")
    func once() throws {
        let coordinator = try coordinator(file)
        for other in [link, URL(fileURLWithPath: folder.url.path + "/real/./store.sqlite")] {
            let error = #expect(throws: NSError.self) { try coordinator.addPersistentStore(type: .sqlite, at: other) }
            #expect(error?.code == 134081)
        }
        #expect(coordinator.persistentStores.count == 1)
    }

    @Test("What others save by the file's name is announced to those who have opened the link", .ownThread)
    func announced() throws {
        let listening = try coordinator(link, [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let heard = DispatchSemaphore(value: 0)
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: listening, queue: nil
        ) { _ in heard.signal() }
        defer { NotificationCenter.default.removeObserver(token) }
        try save(file)
        #expect(heard.wait(timeout: .now() + 30) == .success)
    }
}

@Suite("The file of a document that is destroyed or replaced", .ownThread)
struct LockedDocumentTests {
    @Test("is left alone while somebody saves it", arguments: [false, true])
    func waits(replaces: Bool) throws {
        let folder = try TestFolder()
        let (url, other) = (folder.file("a.xml"), folder.file("b.xml"))
        for place in [url, other] {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
            let store = try coordinator.addPersistentStore(type: .xml, at: place)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                context.make("Tag", ["name": place.lastPathComponent])
                try context.save()
            }
            try coordinator.remove(store)
        }
        let before = try Data(contentsOf: url)
        // The lock that a save takes.
        let descriptor = open(url.path, O_RDONLY)
        #expect(flock(descriptor, LOCK_EX) == 0)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
            do {
                if replaces {
                    try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: other, type: .xml)
                } else {
                    try coordinator.destroyPersistentStore(at: url, type: .xml)
                }
            } catch { Issue.record(error) }
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 0.3) == .timedOut)
        #expect(try Data(contentsOf: url) == before)
        close(descriptor)
        done.wait()
        if replaces {
            #expect(try Data(contentsOf: url) == Data(contentsOf: other))
        } else {
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
    }
}
