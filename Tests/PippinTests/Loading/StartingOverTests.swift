import CoreData
import Foundation
import Pippin
import TestSupport
import Testing

@Suite("Starting over")
struct StartingOverTests {
    @Test("takes everything away, and begins with an empty store")
    func file() async throws {
        let counter = try Counter(Coin.self)
        try await counter.manager.save(Coin(code: "EUR", worth: 1))
        try await counter.manager.destroy()
        await #expect(throws: PersistenceError.notLoaded(manager: "Models")) {
            try await counter.manager.fetch(Coin.self)
        }
        try await counter.manager.load()
        #expect(try await counter.manager.fetch(Coin.self).isEmpty)
        try await counter.manager.save(Coin(code: "GBP", worth: 1))
        try await counter.manager.startOver()
        #expect(try await counter.manager.count(Coin.self) == 0)
    }

    @Test("may be the first thing that a manager does")
    func first() async throws {
        let folder = try TestFolder()
        let url = folder.file("coins.sqlite")
        try await PersistenceManager(models: Coin.self, store: .file(url)).save(Coin(code: "EUR", worth: 1))
        let manager = PersistenceManager(models: Coin.self, store: .file(url))
        try await manager.startOver()
        #expect(try await manager.count(Coin.self) == 0)
        try await manager.save(Coin(code: "GBP", worth: 1))

        let other = PersistenceManager(models: Coin.self, store: .file(url))
        try await other.destroy()
        await #expect(throws: PersistenceError.notLoaded(manager: "Models")) { try await other.count(Coin.self) }
        await #expect(throws: PersistenceError.notLoaded(manager: "Models")) { try await other.destroy() }
        try await other.startOver()
        #expect(try await other.count(Coin.self) == 0)
    }

    @Test("helps where the models do not fit the store")
    func unfit() async throws {
        enum Former { struct Coin: CoreModel { let id: String; var metal: String } }
        let folder = try TestFolder()
        let url = folder.file("coins.sqlite")
        try await PersistenceManager(models: Former.Coin.self, store: .file(url)).save(
            Former.Coin(id: "1", metal: "gold"))
        struct Note: CoreModel { let id: String }
        enum Later { struct Coin: CoreModel { let id: String } }
        let manager = PersistenceManager(models: Later.Coin.self, Note.self, store: .file(url))
        let error = await #expect(throws: PersistenceError.self) { try await manager.load() }
        #expect(error?.code == .wouldLose)
        try await manager.startOver()
        #expect(try await manager.count(Later.Coin.self) == 0)
        try await manager.save(Note(id: "1"))
    }

    @Test("helps where the models fit one of several stores, which is not left open")
    func oneOfSeveral() async throws {
        let folder = try TestFolder()
        let (fit, unfit) = (folder.file("fit.sqlite"), folder.file("unfit.xml"))
        try await PersistenceManager(models: Coin.self, store: .file(fit)).save(Coin(code: "EUR", worth: 1))
        let stone = NSEntityDescription()
        stone.name = "Stone"
        let model = NSManagedObjectModel()
        model.entities = [stone]
        _ = try NSPersistentStoreCoordinator(managedObjectModel: model).addPersistentStore(
            ofType: NSXMLStoreType, configurationName: nil, at: unfit)
        let manager = PersistenceManager(models: Coin.self, store: .file(fit))
        let second = NSPersistentStoreDescription(url: unfit)
        second.type = NSXMLStoreType
        second.shouldMigrateStoreAutomatically = false
        manager.container.persistentStoreDescriptions.append(second)
        for _ in 0..<2 {
            let error = await #expect(throws: (any Error).self) { try await manager.load() }
            #expect(error?.localizedDescription.contains("added already") == false)
            #expect(manager.container.persistentStoreCoordinator.persistentStores.isEmpty)
        }
        try await manager.startOver()
        #expect(try await manager.count(Coin.self) == 0)
        #expect(manager.container.persistentStoreCoordinator.persistentStores.count == 2)
    }

    @Test("takes away what a store has that was described after the others were opened", arguments: [true, false])
    func describedLater(startsOver: Bool) async throws {
        let folder = try TestFolder()
        let (first, second) = (folder.file("first.sqlite"), folder.file("second.sqlite"))
        for url in [first, second] {
            try await PersistenceManager(models: Coin.self, store: .file(url)).save(Coin(code: "EUR", worth: 1))
        }
        let manager = PersistenceManager(models: Coin.self, store: .file(first))
        try await manager.load()
        manager.container.persistentStoreDescriptions.append(NSPersistentStoreDescription(url: second))
        try await startsOver ? manager.startOver() : manager.destroy()
        for url in [first, second] {
            #expect(try await PersistenceManager(models: Coin.self, store: .file(url)).count(Coin.self) == 0)
        }
    }

    @Test("leaves a file alone that is not a database")
    func garbage() async throws {
        let folder = try TestFolder()
        let url = folder.file("letter.txt")
        try Data("Dear Jane, this letter is not a database.".utf8).write(to: url)
        let manager = PersistenceManager(models: Coin.self, store: .file(url))
        await #expect(throws: PersistenceError.self) { try await manager.startOver() }
        await #expect(throws: PersistenceError.self) { try await manager.destroy() }
        #expect(try String(contentsOf: url, encoding: .utf8) == "Dear Jane, this letter is not a database.")
    }

    @Test("makes nothing at a path where nothing is, if the manager is to make nothing")
    func missing() async throws {
        let folder = try TestFolder()
        let url = folder.file("coins.sqlite")
        let manager = PersistenceManager(models: Coin.self, store: .file(url, creating: .nothing))
        await #expect(throws: PersistenceError.storeNotFound(path: url.path)) { try await manager.startOver() }
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }
}
