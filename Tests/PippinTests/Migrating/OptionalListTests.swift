import Pippin
import TestSupport
import Testing

private struct Tag: CoreModel, Equatable {
    let id: String
}

private enum Required {
    struct Book: CoreModel, Equatable {
        let id: Int
        var tags: [Tag]
    }
    struct Note: CoreModel {
        let id: Int
        var text = ""
    }
}

private enum Loose {
    struct Book: CoreModel, Equatable {
        let id: Int
        var tags: [Tag]?
    }
    struct Note: CoreModel {
        let id: Int
        var length: Int
    }
}

/// With the mark of earlier builds.
private enum Earlier {
    struct Book: CoreModel {
        let id: Int
        var tags: [Tag]
        var tagsIsEmpty: Bool?
    }
}

private enum Renamed {
    struct Book: CoreModel {
        let id: Int
        var labels: [Tag]?
        static var schema: Schema<Book> { Schema(.renamed(\.labels, from: "tags")) }
    }
}

private enum Removed {
    struct Book: CoreModel {
        let id: Int
        static var schema: Schema<Book> { Schema(.removed("tags")) }
    }
}

private let tags = [Tag(id: "a"), Tag(id: "b")]

@Suite("Optional lists of models")
struct OptionalListTests {
    private let folder: TestFolder
    private var file: StoreLocation { .file(folder.file("books.sqlite")) }

    init() throws { folder = try TestFolder() }

    private func fill(_ lists: [Tag]?...) async throws {
        let manager = PersistenceManager(models: Loose.Book.self, store: file)
        try await manager.save(lists.enumerated().map { Loose.Book(id: $0, tags: $1) })
        await manager.close()
    }

    @Test("are empty, not nil, after their last member was deleted")
    func deletedMember() async throws {
        let manager = PersistenceManager(models: Loose.Book.self, Tag.self, store: file)
        try await manager.save([Loose.Book(id: 0, tags: [tags[0]]), Loose.Book(id: 1, tags: nil)])
        try await manager.delete(tags[0])
        #expect(try await manager.fetch(Loose.Book.self, sortedBy: .ascending(\.id)).map(\.tags) == [[], nil])
        #expect(try await manager.count(Loose.Book.self, where: \.tags == nil) == 1)
        #expect(try await manager.count(Loose.Book.self, where: \.tags == []) == 1)
    }

    @Test("are there, empty or not, where they were required")
    func widened() async throws {
        let former = PersistenceManager(models: Required.Book.self, store: file)
        try await former.save([Required.Book(id: 0, tags: []), Required.Book(id: 1, tags: tags)])
        let manager = PersistenceManager(models: Loose.Book.self, store: file)
        try await manager.save(Loose.Book(id: 2, tags: nil))
        let books = try await manager.fetch(Loose.Book.self, sortedBy: .ascending(\.id))
        #expect(books.map(\.tags) == [[], tags, nil])
    }

    @Test("are there where they were required, after a plan whose closure changes another model")
    func widenedByPlan() async throws {
        let former = PersistenceManager(models: Required.Book.self, Required.Note.self, store: file)
        try await former.save([Required.Book(id: 0, tags: []), Required.Book(id: 1, tags: tags)])
        try await former.save(Required.Note(id: 1, text: "abc"))
        let manager = PersistenceManager(models: Loose.Book.self, Loose.Note.self, store: file)
        try await manager.load(
            migratingBy: MigrationPlan(from: ModelVersion("1", models: Required.Book.self, Required.Note.self))
                .changing(
                    to: ModelVersion("2", models: Loose.Book.self, Loose.Note.self),
                    .model(Required.Note.self, to: Loose.Note.self) {
                        Loose.Note(id: $0.id, length: $0.text.count)
                    }))
        #expect(
            try await manager.fetch(Loose.Book.self, sortedBy: .ascending(\.id)).map(\.tags) == [[], tags])
    }

    @Test("are empty where they were nil and become required")
    func narrowed() async throws {
        try await fill(nil, [], tags)
        let manager = PersistenceManager(models: Required.Book.self, store: file)
        #expect(try await manager.fetch(Required.Book.self, sortedBy: .ascending(\.id)).map(\.tags) == [[], [], tags])
    }

    @Test("stay nil or empty under another name")
    func renamed() async throws {
        try await fill(nil, [], tags)
        let manager = PersistenceManager(models: Renamed.Book.self, store: file)
        #expect(
            try await manager.fetch(Renamed.Book.self, sortedBy: .ascending(\.id)).map(\.labels) == [nil, [], tags])
    }

    @Test("can be removed by their name alone")
    func removed() async throws {
        try await fill(nil, [], tags)
        let manager = PersistenceManager(models: Removed.Book.self, store: file)
        #expect(try await manager.count(Removed.Book.self) == 3)
    }

    @Test("are read from stores of earlier builds, which marked empty ones")
    func earlier() async throws {
        let former = PersistenceManager(models: Earlier.Book.self, store: file)
        try await former.save([
            Earlier.Book(id: 0, tags: []), Earlier.Book(id: 1, tags: [], tagsIsEmpty: true),
            Earlier.Book(id: 2, tags: tags),
        ])
        await former.close()
        let manager = PersistenceManager(models: Loose.Book.self, store: file)
        #expect(
            try await manager.fetch(Loose.Book.self, sortedBy: .ascending(\.id)) == [
                Loose.Book(id: 0, tags: nil), Loose.Book(id: 1, tags: []), Loose.Book(id: 2, tags: tags),
            ])
    }
}
