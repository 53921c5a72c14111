import TestSupport
import Testing

@testable import Pippin
import CoreData

private enum V1 {
    struct Note: CoreModel {
        let id: Int
        var text: String
    }
}
private enum V2 {
    struct Note: CoreModel, Equatable {
        let id: Int
        var words: [String]
    }
}

@Suite("A manager that is used while it opens, by what it calls meanwhile", .timeLimit(.minutes(15)))
struct UseWhileOpeningTests {
    private let folder: TestFolder
    private var file: URL { folder.file("notes.sqlite") }

    init() throws { folder = try TestFolder() }

    @Test("throws an error to a closure of its migration plan, instead of waiting for itself")
    func plan() async throws {
        let old = PersistenceManager(models: V1.Note.self, store: .file(file))
        try await old.save(V1.Note(id: 1, text: "a b"))
        let manager = PersistenceManager(models: V2.Note.self, store: .file(file))
        let said = Locked<[PersistenceError?]>([])
        let plan = MigrationPlan(from: ModelVersion("1", models: V1.Note.self)).changing(
            to: ModelVersion("2", models: V2.Note.self),
            .model(V1.Note.self, to: V2.Note.self) { note in
                for use in [
                    { _ = try manager.readAndWait { try $0.count(V2.Note.self) } }, { try manager.loadAndWait() },
                ] {
                    do { try use() } catch { said.withLock { $0.append(error as? PersistenceError) } }
                }
                return V2.Note(id: note.id, words: note.text.split(separator: " ").map(String.init))
            })
        try await manager.load(migratingBy: plan)
        #expect(said.withLock { $0.map(\.?.code) } == [.notLoaded, .notLoaded])
        #expect(said.withLock { $0.first??.description.contains("being opened") } == true)
        #expect(try await manager.fetch(V2.Note.self) == [V2.Note(id: 1, words: ["a", "b"])])
    }

    @Test("throws an error to an observer, and is opened all the same")
    func observer() async throws {
        let manager = PersistenceManager(models: V2.Note.self, store: .file(file))
        let said = Locked<[PersistenceError.Code?]>([])
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresDidChange,
            object: manager.container.persistentStoreCoordinator, queue: nil
        ) { _ in
            do { _ = try manager.readAndWait { try $0.count(V2.Note.self) } } catch {
                said.withLock { $0.append((error as? PersistenceError)?.code) }
            }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try await manager.save(V2.Note(id: 1, words: []))
        #expect(said.withLock { $0 } == [.notLoaded])
        #expect(try await manager.count(V2.Note.self) == 1)
    }

    @Test("throws an error to an observer while it starts over, too; another manager serves that observer")
    func startingOver() async throws {
        let manager = PersistenceManager(models: V2.Note.self, store: .file(file))
        let other = PersistenceManager(models: V2.Note.self, store: .file(folder.file("others.sqlite")))
        for manager in [manager, other] { try await manager.save(V2.Note(id: 1, words: [])) }
        let (said, counts) = (Locked<[PersistenceError.Code?]>([]), Locked<[Int?]>([]))
        let token = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreCoordinatorStoresDidChange,
            object: manager.container.persistentStoreCoordinator, queue: nil
        ) { _ in
            do { _ = try manager.readAndWait { try $0.count(V2.Note.self) } } catch {
                said.withLock { $0.append((error as? PersistenceError)?.code) }
            }
            let count = try? other.readAndWait { try $0.count(V2.Note.self) }
            counts.withLock { $0.append(count) }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try await manager.startOver()
        // The old store is removed, and the new one is added.
        #expect(said.withLock { $0 } == [.notLoaded, .notLoaded])
        #expect(counts.withLock { $0 } == [1, 1])
        #expect(try await manager.count(V2.Note.self) == 0)
    }
}
