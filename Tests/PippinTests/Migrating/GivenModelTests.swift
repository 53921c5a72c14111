import Foundation
import Pippin
import TestSupport
import Testing

private enum V1 {
    @CoreModel
    struct Book {
        let id: Int
        var title: String
        var author: String
        var shelf: Shelf?
    }
    @CoreModel
    struct Shelf {
        let id: String
        var room: String
    }
}
private enum V2 {
    @CoreModel
    struct Author: Equatable {
        let id: String
        var name: String
    }
    @CoreModel
    struct Book: Equatable {
        let id: Int
        var title: String
        var writer: Author?
        var shelf: Shelf?
        var pages: [Page]
        var sequel: Reference<Book>?
        static var schema: Schema<Book> { Schema(.owns(\.pages)) }
    }
    @CoreModel
    struct Page: Equatable {
        let id: String
        var number: Int
    }
    @CoreModel
    struct Shelf: Equatable {
        let id: String
        var room: String
    }
}

// Two closures: what one makes, the other one refers to.
private enum Rooms1 {
    @CoreModel
    struct Room {
        let id: Int
        var codes: [String]
    }
    @CoreModel
    struct Book {
        let id: Int
        var code: String
    }
}
private enum Rooms2 {
    @CoreModel
    struct Room {
        let id: Int
        var shelves: [Shelf]
        static var schema: Schema<Room> { Schema(.owns(\.shelves)) }
    }
    @CoreModel
    struct Shelf: Equatable {
        let id: String
    }
    @CoreModel
    struct Book {
        let id: Int
        var shelf: Reference<Shelf>?
    }
}

// Notes that go from one folder to another.
private enum Folders1 {
    @CoreModel
    struct Folder {
        let id: Int
        var notes: [Note]
        static var schema: Schema<Folder> { Schema(.owns(\.notes)) }
    }
    @CoreModel
    struct Note {
        let id: Int
        var text: String
    }
}
private enum Folders2 {
    @CoreModel
    struct Folder {
        let id: Int
        var title: String
        var notes: [Note]
        static var schema: Schema<Folder> { Schema(.owns(\.notes)) }
    }
    @CoreModel
    struct Note: Equatable {
        let id: Int
        var text: String
    }
}

@Suite("Models that the closure of a migration gives")
struct GivenModelTests {
    private let folder: TestFolder
    private var file: URL { folder.file("books.sqlite") }
    private var manager: PersistenceManager { PersistenceManager(models: V2.Book.self, store: .file(file)) }

    init() throws { folder = try TestFolder() }

    private func save(_ books: [V1.Book]) async throws {
        try await PersistenceManager(models: V1.Book.self, store: .file(file)).save(books)
    }

    private func plan(_ convert: @escaping @Sendable (V1.Book) throws -> V2.Book) -> MigrationPlan {
        MigrationPlan(from: ModelVersion("1", models: V1.Book.self))
            .changing(to: ModelVersion("2", models: V2.Book.self), .model(V1.Book.self, to: V2.Book.self, convert))
    }

    private func books(_ count: Int) -> [V1.Book] {
        (0..<count).map { number in
            V1.Book(
                id: number, title: "Title \(number)", author: "Author \(number % 7)",
                shelf: V1.Shelf(id: "s\(number % 3)", room: "Room"))
        }
    }

    @Test("are saved, each once, beside what is inferred", arguments: [10, 2500])
    func split(count: Int) async throws {
        try await save(books(count))
        let manager = manager
        try await manager.load(
            migratingBy: plan { old in
                V2.Book(
                    id: old.id, title: old.title, writer: V2.Author(id: old.author.lowercased(), name: old.author),
                    pages: [V2.Page(id: "\(old.id)-1", number: 1)])
            })
        #expect(try await manager.count(V2.Author.self) == 7)
        #expect(try await manager.count(V2.Page.self) == count)
        #expect(
            try await manager.find(V2.Book.self, id: 8)
                == V2.Book(
                    id: 8, title: "Title 8", writer: V2.Author(id: "author 1", name: "Author 1"),
                    shelf: V2.Shelf(id: "s2", room: "Room"), pages: [V2.Page(id: "8-1", number: 1)]))
        #expect(try await manager.count(V2.Book.self, by: \.shelf?.id).values.reduce(0, +) == count)
    }

    @Test("may be others than those that are inferred, and references")
    func others() async throws {
        try await save(books(3))
        let manager = manager
        try await manager.load(
            migratingBy: plan { old in
                V2.Book(
                    id: old.id, title: old.title, shelf: V2.Shelf(id: "s0", room: "Hall"), pages: [],
                    sequel: old.id < 2 ? Reference(id: old.id + 1) : nil)
            })
        #expect(try await manager.count(V2.Book.self, by: \.shelf?.room) == ["Hall": 3])
        #expect(try await manager.find(V2.Shelf.self, id: "s2")?.room == "Room")
        #expect(try await manager.find(V2.Book.self, id: 1)?.sequel == Reference(id: 2))
    }

    @Test("are there for the closures that are given after theirs")
    func order() async throws {
        let old = PersistenceManager(models: Rooms1.Room.self, Rooms1.Book.self, store: .file(file))
        try await old.save(Rooms1.Room(id: 1, codes: ["a", "b"]))
        try await old.save(Rooms1.Book(id: 1, code: "b"))
        let manager = PersistenceManager(models: Rooms2.Room.self, Rooms2.Book.self, store: .file(file))
        try await manager.load(
            migratingBy: MigrationPlan(from: ModelVersion("1", models: Rooms1.Room.self, Rooms1.Book.self)).changing(
                to: ModelVersion("2", models: Rooms2.Room.self, Rooms2.Book.self),
                .model(Rooms1.Room.self, to: Rooms2.Room.self) { old in
                    Rooms2.Room(id: old.id, shelves: old.codes.map { Rooms2.Shelf(id: $0) })
                },
                .model(Rooms1.Book.self, to: Rooms2.Book.self) { Rooms2.Book(id: $0.id, shelf: Reference(id: $0.code)) }
            ))
        #expect(try await manager.find(Rooms2.Book.self, id: 1)?.shelf == Reference(id: "b"))
        #expect(try await manager.find(Rooms2.Room.self, id: 1)?.shelves.map(\.id) == ["a", "b"])
    }

    @Test("go from one owner to another, whichever closure comes first", arguments: [(1, 2), (2, 1)])
    func moved(from first: Int, to second: Int) async throws {
        func note(_ id: Int) -> Folders1.Note { Folders1.Note(id: id, text: "\(id)") }
        try await PersistenceManager(models: Folders1.Folder.self, store: .file(file)).save([
            Folders1.Folder(id: first, notes: [note(7), note(8)]), Folders1.Folder(id: second, notes: [note(9)]),
        ])
        let manager = PersistenceManager(models: Folders2.Folder.self, store: .file(file))
        try await manager.load(
            migratingBy: MigrationPlan(from: ModelVersion("1", models: Folders1.Folder.self)).changing(
                to: ModelVersion("2", models: Folders2.Folder.self),
                .model(Folders1.Folder.self, to: Folders2.Folder.self) { old in
                    let notes = (old.id == first ? [8] : [9, 7]).map { Folders2.Note(id: $0, text: "\($0)") }
                    return Folders2.Folder(id: old.id, title: "Folder", notes: notes)
                }))
        #expect(try await manager.find(Folders2.Folder.self, id: first)?.notes.map(\.id) == [8])
        #expect(try await manager.find(Folders2.Folder.self, id: second)?.notes.map(\.id) == [9, 7])
        #expect(try await manager.count(Folders2.Note.self) == 3)
    }

    @Test("end the migration where one refers to nothing, and leave the store as it was")
    func missing() async throws {
        try await save(books(3))
        let plan = plan { old in
            V2.Book(id: old.id, title: old.title, pages: [], sequel: old.id == 2 ? Reference(id: 99) : nil)
        }
        await #expect {
            try await manager.load(migratingBy: plan)
        } throws: { error in
            (error as? PersistenceError).map { $0.entity == "Book" && "\($0)".contains("'99'") } ?? false
        }
        #expect(try await PersistenceManager(models: V1.Book.self, store: .file(file)).count(V1.Book.self) == 3)
    }
}
