import Foundation
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
import StoreSession

@Suite("Query generations keep a state of the store readable while others write")
struct QueryGenerationTests {
    private func names(_ store: BatchStore, _ token: NSQueryGenerationToken?) throws -> [String] {
        let session = store.container.persistentStoreCoordinator.session
        let request = NSFetchRequest<NSDictionary>(entityName: "Tag")
        request.resultType = .dictionaryResultType
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try store.context.performAndWait {
            try session.reading(token?.state) { try store.context.fetch(request).compactMap { $0["name"] as? String } }
        }
    }

    @Test("What is saved later is not there for whoever reads an earlier generation, and is for everybody else")
    func isolation() throws {
        let store = try BatchStore()
        try store.save { $0.make("Tag", ["name": "a"]) }
        let token = try store.container.persistentStoreCoordinator.pinCurrentGeneration()
        try store.save { $0.make("Tag", ["name": "b"]) }
        #expect(try names(store, token) == ["a"])
        #expect(try names(store, nil) == ["a", "b"])
        let later = try store.container.persistentStoreCoordinator.pinCurrentGeneration()
        #expect(try names(store, later) == ["a", "b"])
        #expect(try names(store, token) == ["a"])
        #expect(token != later)
    }

    @Test("While nothing is written, generations share one connection; a limit of connections is an error beyond it")
    func limit() throws {
        let store = try BatchStore(options: [NSPersistentStoreConnectionPoolMaxSizeKey: NSNumber(value: 1)])
        let source = store.container.persistentStoreCoordinator
        var token: NSQueryGenerationToken? = try source.pinCurrentGeneration()
        let same = try source.pinCurrentGeneration()
        let persistentStore = try #require(source.persistentStores.first)
        #expect(token?.generation(of: persistentStore) === same.generation(of: persistentStore))
        try store.save { $0.make("Tag", ["name": "a"]) }
        let error = #expect(throws: NSError.self) { _ = try source.pinCurrentGeneration() }
        #expect(error?.localizedDescription.contains("NSPersistentStoreConnectionPoolMaxSize") == false)
        #expect(error?.localizedRecoverySuggestion?.contains("NSPersistentStoreConnectionPoolMaxSizeKey") == true)
        token = nil
        #expect(same.isExpired == false)
    }

    @Test("A token archives, and is the same generation again while that can be read")
    func coding() throws {
        let store = try BatchStore()
        try store.save { $0.make("Tag", ["name": "a"]) }
        let archive: Data
        do {
            let token = try store.container.persistentStoreCoordinator.pinCurrentGeneration()
            archive = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
            let copy = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: archive))
            try store.save { $0.make("Tag", ["name": "b"]) }
            #expect(copy == token)
            #expect(try names(store, copy) == ["a"])
        }
        let late = try NSKeyedUnarchiver.unarchivedObject(ofClass: NSQueryGenerationToken.self, from: archive)
        #expect(late?.isExpired == true)
    }

    @Test("A store in memory has no generations: it is read as it is")
    func inMemory() throws {
        let container = try Library.inMemory()
        let token = try container.persistentStoreCoordinator.pinCurrentGeneration()
        let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
        #expect(token.generation(of: store) == nil)
    }

    @Test("What is read of a generation counts as old as the generation, whenever it is read")
    func age() throws {
        let store = try BatchStore()
        let source = store.container.persistentStoreCoordinator
        let pinned = PinnedSource(source, try source.pinCurrentGeneration())
        let before = source.generation
        try store.save { $0.make("Tag", ["name": "a"]) }
        #expect(pinned.generation == before)
        #expect(source.generation > before)
    }
}
