import Foundation
import Pippin
import TestSupport
import Testing

/// Two programs with one store: the other one changes the structs of which this one uses some.
@Suite("Structs that another program migrates while a manager has the store open")
struct OtherVersionTests {
    private struct Note: CoreModel, Equatable {
        let id: Int
        var text: String
    }

    private enum First {
        struct Book: CoreModel {
            let id: Int
            var title: String
            var author: Author?
        }
        struct Author: CoreModel {
            let id: Int
            var name: String
        }
    }

    private enum Second {
        struct Book: CoreModel {
            let id: Int
            var title: String
            var pages: Int?
            var author: First.Author?
        }
        struct Remark: CoreModel {
            let id: Int
            var note: Note?
        }
    }

    private func expectOtherVersion(_ work: () async throws -> Void) async {
        let error = await #expect(throws: PersistenceError.self) { try await work() }
        #expect(
            "\(error.map { "\($0)" } ?? "")".contains("migrated to another version"), "\(String(describing: error))")
    }

    @Test("are refused, with those that relationships connect with them, and all others go on being used")
    func others() async throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(
            models: Note.self, First.Book.self, First.Author.self, store: .file(folder.store))
        try await manager.save(Note(id: 1, text: "one"))
        try await manager.save(First.Book(id: 1, title: "Emma", author: First.Author(id: 1, name: "Jane")))
        let other = PersistenceManager(models: Second.Book.self, First.Author.self, store: .file(folder.store))
        try await other.save(Second.Book(id: 2, title: "Persuasion", pages: 249))
        #expect(try await manager.fetch(Note.self) == [Note(id: 1, text: "one")])
        try await manager.write { store in
            try store.save(Note(id: 2, text: "two"))
            try store.update(Note.self, where: \.id == 1) { $0.set(\.text, to: "first") }
        }
        #expect(try await manager.fetch(Note.self, sortedBy: .ascending(\.id)).map(\.text) == ["first", "two"])
        try await manager.delete(Note.self, id: 2)
        await expectOtherVersion { _ = try await manager.fetch(First.Book.self) }
        await expectOtherVersion { _ = try await manager.count(First.Author.self) }
        await expectOtherVersion { try await manager.save(First.Author(id: 1, name: "X")) }
        await expectOtherVersion { try await manager.deleteAll(First.Book.self) }
        await expectOtherVersion {
            try await manager.update(First.Book.self, where: \.id > 0) { $0.set(\.title, to: "X") }
        }
        await expectOtherVersion {
            try await manager.write { store in
                try store.save(Note(id: 3, text: "three"))
                try store.save(First.Book(id: 3, title: "X"))
            }
        }
        #expect(try await manager.count(Note.self) == 1)
        #expect(
            try await other.fetch(Second.Book.self, sortedBy: .ascending(\.id)).map(\.title) == ["Emma", "Persuasion"])
    }

    @Test("are used as before where a new struct of the other program refers to another one")
    func referred() async throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(models: Note.self, First.Author.self, store: .file(folder.store))
        try await manager.save(Note(id: 1, text: "one"))
        try await manager.save(First.Author(id: 1, name: "Jane"))
        let other = PersistenceManager(models: Second.Remark.self, Note.self, store: .file(folder.store))
        try await other.save(Second.Remark(id: 1, note: Note(id: 1, text: "one")))
        #expect(try await manager.find(First.Author.self, id: 1)?.name == "Jane")
        try await manager.save(First.Author(id: 2, name: "Anne"))
        #expect(try await other.count(Second.Remark.self) == 1)
    }
}
