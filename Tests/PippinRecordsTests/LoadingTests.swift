import Dispatch
import PippinRecords
import TestSupport
import Testing

@Suite("Loading a persistence manager")
struct LoadingTests {
    @Test("creates the store's file")
    func createsFile() async throws {
        let shelf = try Shelf(isLoaded: false)
        try await shelf.manager.load()
        #expect(FileManager.default.fileExists(atPath: shelf.file.path))
        #expect(try shelf.number("SELECT count(*) FROM ZPERSONRECORD") == 0)
    }

    @Test("a second time is an error that names the manager")
    func secondLoad() async throws {
        let shelf = try Shelf()
        await #expect(throws: PersistenceError.alreadyLoaded(manager: "Library")) { try await shelf.manager.load() }
    }

    @Test("lets one of several loads at once succeed")
    func concurrentLoads() async throws {
        let shelf = try Shelf(isLoaded: false)
        let successes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do {
                        try await shelf.manager.load()
                        return true
                    } catch {
                        return false
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(successes == 1)
    }

    @Test("calls the completion on the main queue")
    func completion() async throws {
        let shelf = try Shelf(isLoaded: false)
        let error = await withCheckedContinuation { continuation in
            shelf.manager.load { error in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume(returning: error)
            }
        }
        #expect(error == nil)
    }

    @Test("hands the completion the error")
    func completionWithError() async throws {
        let shelf = try Shelf()
        let error = await withCheckedContinuation { continuation in
            shelf.manager.load { continuation.resume(returning: $0) }
        }
        #expect(error as? PersistenceError == .alreadyLoaded(manager: "Library"))
    }

    @Test("fails where the store cannot be, and may be tried again")
    func failure() throws {
        let folder = try TestFolder()
        let file = folder.store
        try Data(
            "This is not a database, and longer than a header of one hundred bytes would have to be to be one. No.".utf8
        )
        .write(to: file)
        let manager = PersistenceManager(model: Library.model(), name: "Library", store: .file(file))
        #expect(throws: (any Error).self) { try manager.loadAndWait() }
        try FileManager.default.removeItem(at: file)
        try manager.loadAndWait()
    }

    @Test("comes by itself with whatever is done first")
    func implicit() throws {
        let shelf = try Shelf(isLoaded: false)
        try shelf.save([.ada])
        #expect(try shelf.number("SELECT count(*) FROM ZPERSONRECORD") == 1)
        // Said once then, it is no second time.
        try shelf.manager.loadAndWait()
    }

    @Test("fails for a model that the bundle does not have, and says so")
    func missingModel() {
        let manager = PersistenceManager(modelName: "Nowhere", store: .memory)
        let expected = PersistenceError.modelNotFound(name: "Nowhere", bundle: Bundle.main.bundlePath)
        #expect(throws: expected) { try manager.loadAndWait() }
        #expect(expected.localizedDescription.contains("'Nowhere.momd'"))
    }

    @Test("fails for a model file that is not there")
    func missingModelFile() {
        let url = URL(fileURLWithPath: "/nowhere/Library.momd")
        let manager = PersistenceManager(modelURL: url, store: .memory)
        #expect(manager.name == "Library")
        #expect(throws: PersistenceError.modelNotReadable(url: url)) { try manager.loadAndWait() }
    }

    @Test("fails for a bundle that is not loaded")
    func missingBundle() {
        let manager = PersistenceManager(bundleIdentifier: "no.such.bundle", modelName: "Library")
        #expect(throws: PersistenceError.bundleNotFound(identifier: "no.such.bundle")) { try manager.loadAndWait() }
    }

    @Test("leaves no file for a store in memory")
    func inMemory() throws {
        let manager = PersistenceManager(model: Library.model(), name: "Library", store: .memory)
        try manager.loadAndWait()
        try manager.save(entity: PersonRecord.self, models: [.ada], shouldOverwrite: false)
        #expect(try manager.fetchModels(entity: PersonRecord.self) == [.ada])
        #expect(manager.container.persistentStoreCoordinator.persistentStores.first?.type == NSInMemoryStoreType)
    }

    @Test("takes a store description as it is")
    func storeDescription() async throws {
        let shelf = try Shelf()
        try shelf.save([.ada])
        let description = NSPersistentStoreDescription(url: shelf.file)
        description.isReadOnly = true
        let reader = PersistenceManager(model: Library.model(), name: "Reader", store: .description(description))
        try await reader.load()
        #expect(try await reader.fetchModels(entity: PersonRecord.self) == [.ada])
        #expect(throws: (any Error).self) {
            try reader.save(entity: PersonRecord.self, models: [.blaise], shouldOverwrite: false)
        }
    }
}
