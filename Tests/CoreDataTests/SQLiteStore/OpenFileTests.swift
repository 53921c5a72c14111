import CoreData
import Foundation
import TestSupport
import Testing

@testable import SQLiteEngine

@Suite("A store that the process has open")
struct OpenFileTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private var file: URL { folder.file("library.sqlite") }

    @Test("keeps its locks when its metadata are asked for without its type", .enabled(if: FileLocks.areListed))
    func locksStay() throws {
        let container = try Library.stored(at: file)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.make("Tag", ["name": "A"])
            try context.save()
        }
        let before = try FileLocks.held(on: file.path)
        #expect(!before.isEmpty)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: nil, at: file)
        #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(try FileLocks.held(on: file.path) == before)
        withExtendedLifetime(container) {}
    }

    @Test("is known by any name until it is closed")
    func known() throws {
        let link = folder.file("link.sqlite")
        let container = try Library.stored(at: file)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        #expect(SQLiteFormat.hasOpen(file))
        #expect(SQLiteFormat.hasOpen(link))
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try coordinator.remove(store) }
        #expect(!SQLiteFormat.hasOpen(file))
    }

    @Test("is not opened for writing while its file has a second name, which would have a log of its own")
    func hardLink() throws {
        try Library.stored(at: file).persistentStoreCoordinator.removeAll()
        let link = folder.file("link.sqlite")
        try FileManager.default.linkItem(at: file, to: link)
        let error = #expect(throws: NSError.self) { try Library.stored(at: link) }
        #expect(error?.localizedDescription.contains("hard links") == true)
        #expect(error?.localizedRecoverySuggestion != nil)
        let description = NSPersistentStoreDescription(url: link)
        description.isReadOnly = true
        _ = try Library.container(Library.model(), description)
        try FileManager.default.removeItem(at: link)
        _ = try Library.stored(at: file)
    }
}

extension NSPersistentStoreCoordinator {
    fileprivate func removeAll() throws {
        for store in persistentStores { try remove(store) }
    }
}
