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

    /// The locks that this process has on the store's file, as the system lists them. It is asked several times,
    /// because a list leaves lines out or repeats them where other locks change while it is read.
    private func locks() throws -> Set<Substring> {
        try (0..<20).reduce(into: []) { found, _ in found.formUnion(try listedLocks()) }
    }

    private func listedLocks() throws -> [Substring] {
        let node = try #require(
            try FileManager.default.attributesOfItem(atPath: file.path)[.systemFileNumber] as? Int)
        // Read to its end: the system says no size.
        let handle = try #require(FileHandle(forReadingAtPath: "/proc/locks"))
        let text = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
        return text.split(separator: "\n").filter { line in
            line.contains(" \(getpid()) ") && line.contains(":\(node) ")
        }.map { $0.drop { $0 != " " } }
    }

    @Test("keeps its locks when its metadata are asked for without its type", .enabled(if: canReadLocks))
    func locksStay() throws {
        let container = try Library.stored(at: file)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.make("Tag", ["name": "A"])
            try context.save()
        }
        let before = try locks()
        #expect(!before.isEmpty)
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: nil, at: file)
        #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(try locks() == before)
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

private let canReadLocks = FileManager.default.isReadableFile(atPath: "/proc/locks")

extension NSPersistentStoreCoordinator {
    fileprivate func removeAll() throws {
        for store in persistentStores { try remove(store) }
    }
}
