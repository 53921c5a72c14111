import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Keys of new objects are counted by the save that writes them")
struct KeyPromiseTests {
    let folder: TestFolder
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        folder = try TestFolder()
        container = try Library.stored(at: folder.file("library.sqlite"))
        context = container.newBackgroundContext()
    }

    private var file: URL { folder.file("library.sqlite") }

    private func counted(_ entity: String) throws -> [String] {
        try plainSQL("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'", in: file)
    }

    /// How often something was committed to the write-ahead log: its frames that say a size of the database.
    private func commits() throws -> Int {
        let log = try Data(contentsOf: URL(fileURLWithPath: file.path + "-wal"))
        var pageSize = 0
        for byte in log[8..<12] { pageSize = pageSize * 256 + Int(byte) }
        let salts = Data(log[16..<24])
        var commits = 0
        for frame in stride(from: 32, to: log.count, by: 24 + pageSize) where Data(log[frame + 8..<frame + 16]) == salts
        {
            if log[frame + 4..<frame + 8].contains(where: { $0 != 0 }) { commits += 1 }
        }
        return commits
    }

    @Test("A save of new objects is one transaction")
    func oneTransaction() throws {
        try context.performAndWait {
            context.make("Tag", ["name": "A"])
            try context.save()
            let before = try commits()
            context.make("Tag", ["name": "B"])
            context.make("Shelf", ["code": "C"])
            try context.save()
            #expect(try commits() == before + 1)
        }
        #expect(try counted("Tag") == ["2"])
        #expect(try counted("Shelf") == ["1"])
    }

    @Test("Two contexts that prepare at the same time get different keys: the second saves with others")
    func twoContexts() throws {
        let other = try Library.stored(at: file).newBackgroundContext()
        // The other program saves between the promise and the save: an object prepares for its save after its ID was
        // promised, so the engines are asked one after the other.
        let engines = try [context, other].map { context in
            try #require(context.persistentStoreCoordinator?.stores.first?.engine)
        }
        let layouts = try [context, other].map { try #require($0.entityLayout(named: "Tag")) }
        let promised = try zip(engines, layouts).map { try $0.promiseIdentifiers(for: [$1, $1]) }
        #expect(promised.map { $0.identifiers.map(\.key) } == [[1, 2], [1, 2]])
        for (place, engine) in engines.enumerated() {
            var changes = ChangeSet()
            changes.promises = promised[place].promises
            changes.inserted = promised[place].identifiers.map {
                RowChange(
                    objectID: $0, version: 0, values: layouts[place].defaultValues, changedSlots: [], toManyChanges: [])
            }
            if place == 0 {
                _ = try engine.save(changes)
            } else {
                #expect(throws: KeysTaken.self) { try engine.save(changes) }
            }
        }
        #expect(try plainSQL("SELECT Z_PK FROM ZTAG ORDER BY 1", in: file) == ["1", "2"])
        #expect(try counted("Tag") == ["2"])
    }

    @Test("What another program took while a save was prepared is passed over")
    func takenMeanwhile() throws {
        let other = try Library.stored(at: file).newBackgroundContext()
        let observer = NotificationCenter.default.addObserver(
            forName: NSManagedObjectContext.willSaveObjectsNotification, object: context, queue: nil
        ) { _ in
            other.performAndWait {
                other.make("Tag", ["name": "theirs"])
                try? other.save()
            }
        }
        defer { NotificationCenter.default.removeObserver(observer) }
        try context.performAndWait {
            context.make("Tag", ["name": "mine"])
            try context.save()
        }
        #expect(try plainSQL("SELECT Z_PK, ZNAME FROM ZTAG ORDER BY 1", in: file) == ["1|theirs", "2|mine"])
        #expect(try counted("Tag") == ["2"])
    }

    @Test("A save of rows whose keys were taken tells once that it begins, and once that it is done")
    func toldOnce() throws {
        let coordinator = container.persistentStoreCoordinator
        let counter = PostingCounter(of: coordinator)
        let session = coordinator.session
        let store = try #require(session.openStores.first)
        let tag = try #require(coordinator.modelLayout.entityByName["Tag"])
        try session.saveRows(to: store, in: nil) { countsKeys in
            let made = try session.makeIdentifiers(for: [tag], in: store, countsKeys: countsKeys, nil)
            // Another program takes the key.
            if !countsKeys { try execute("UPDATE Z_PRIMARYKEY SET Z_MAX = 7 WHERE Z_NAME = 'Tag'", in: file) }
            var changes = ChangeSet()
            changes.promises = made.promises
            changes.inserted = made.identifiers.map {
                RowChange(objectID: $0, version: 0, values: tag.defaultValues, changedSlots: [], toManyChanges: [])
            }
            return changes
        }
        #expect(counter.names == ["will", "did"])
        #expect(try plainSQL("SELECT Z_PK FROM ZTAG", in: file) == ["8"])
    }

    @Test("A save that fails counts no keys")
    func failure() throws {
        context.performAndWait {
            context.make("Author", ["name": "A"])
            context.make("Author")
            #expect(throws: NSError.self) { try context.save() }
        }
        #expect(try counted("Author") == ["0"])
    }

    @Test("Programs that save at once lose no object and share no key")
    func manyWriters() async throws {
        let file = file
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let context = try Library.stored(at: file).newBackgroundContext()
                    for round in 0..<25 {
                        try await context.perform {
                            for number in 0..<3 { context.make("Tag", ["name": "\(writer)-\(round)-\(number)"]) }
                            try context.save()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(
            try plainSQL("SELECT count(*), count(DISTINCT ZNAME), max(Z_PK) FROM ZTAG", in: file) == ["300|300|300"])
        #expect(try counted("Tag") == ["300"])
    }
}

/// What a context tells of its saves.
private final class PostingCounter: @unchecked Sendable {
    // @unchecked Sendable: notifications come on the context's queue, and are read when it is done.
    private(set) var names: [String] = []
    private var observers: [any NSObjectProtocol] = []

    init(of coordinator: NSPersistentStoreCoordinator) {
        let told: [(Notification.Name, String)] = [
            (NSManagedObjectContext.willSaveObjectsNotification, "will"),
            (NSManagedObjectContext.didSaveObjectsNotification, "did"),
        ]
        observers = told.map { name, word in
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] note in
                let context = note.object as? NSManagedObjectContext
                if context?.persistentStoreCoordinator === coordinator { self?.names.append(word) }
            }
        }
    }

    deinit { observers.forEach(NotificationCenter.default.removeObserver) }
}
