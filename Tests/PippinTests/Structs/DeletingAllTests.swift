import Foundation
import Pippin
import TestSupport
import Testing

private struct Author: CoreModel { let id: Int }

private struct Review: CoreModel {
    let id: Int
    var author: Reference<Author>
}

private struct Portrait: CoreModel {
    let id: Int
    var author: Reference<Author>?
}

private struct Publisher: CoreModel {
    let id: Int
    var authors: [Author]
    static var schema: Schema<Publisher> { Schema(.owns(\.authors)) }
}

private struct Show: CoreModel {
    let id: Int
    var screen: Reference<Screen>
}

private struct Screen: CoreModel {
    let id: Int
    var shows: [Reference<Show>] = []
    static var schema: Schema<Screen> { Schema(.inverse(\.shows, of: \Show.screen)) }
}

private struct Play: CoreModel { let id: Int }

/// Comes before the others, and has a list of the same name.
private struct Arena: CoreModel {
    let id: Int
    var shows: [Reference<Play>] = []
}

private struct Cinema: CoreModel {
    let id: Int
    var screens: [Screen]
    var shows: [Reference<Play>] = []
    static var schema: Schema<Cinema> { Schema(.owns(\.screens)) }
}

@Suite("Deleting all models of a type")
struct DeletingAllTests {
    @Test("is refused where others require them, with what requires them, and nothing is deleted")
    func required() async throws {
        let counter = try Counter(Review.self, Portrait.self)
        let manager = counter.manager
        try await manager.save([Author(id: 1), Author(id: 2)])
        try await manager.save(Review(id: 1, author: Reference(id: 2)))
        try await manager.save(Portrait(id: 1, author: Reference(id: 1)))
        let error = await #expect(throws: PersistenceError.self) { try await manager.deleteAll(Author.self) }
        let inBlock = await #expect(throws: PersistenceError.self) {
            try await manager.write { try $0.delete(Author.self, where: .all) }
        }
        #expect(error?.code == .invalid)
        #expect(error?.code == inBlock?.code)
        #expect(error?.entity == inBlock?.entity)
        #expect(error?.property == inBlock?.property)
        #expect(
            error?.description.contains("Review, author: It is required, and the Author in it would be deleted.")
                == true)
        #expect(error?.underlying != nil)
        #expect(try counter.strings("SELECT count(*) FROM ZAUTHOR") == ["2"])
        #expect(try counter.strings("SELECT count(*) FROM ZPORTRAIT WHERE ZAUTHOR IS NOT NULL") == ["1"])
    }

    @Test("is refused where others require what would go with them")
    func owned() async throws {
        let counter = try Counter(Review.self, Publisher.self)
        try await counter.manager.save(Publisher(id: 1, authors: [Author(id: 1)]))
        try await counter.manager.save(Review(id: 1, author: Reference(id: 1)))
        let error = await #expect(throws: PersistenceError.self) {
            try await counter.manager.deleteAll(Publisher.self)
        }
        #expect(error?.code == .invalid)
        #expect(error?.entity == "Review")
        #expect(error?.property == "author")
        #expect(try counter.strings("SELECT count(*) FROM ZPUBLISHER") == ["1"])
    }

    @Test("names what requires them where other models have a list of the same name")
    func sameName() async throws {
        let counter = try Counter(Arena.self, Cinema.self, Show.self)
        try await counter.manager.save(Cinema(id: 1, screens: [Screen(id: 1)]))
        try await counter.manager.save(Show(id: 1, screen: Reference(id: 1)))
        let error = await #expect(throws: PersistenceError.self) { try await counter.manager.deleteAll(Cinema.self) }
        #expect(error?.entity == "Show")
        #expect(error?.property == "screen")
        #expect(
            error?.description.contains("Show, screen: It is required, and the Screen in it would be deleted.") == true)
        #expect(try await counter.manager.count(Cinema.self) == 1)
    }

    @Test("leaves those that may do without them, without them")
    func optional() async throws {
        let counter = try Counter(Review.self, Portrait.self)
        try await counter.manager.save(Author(id: 1))
        try await counter.manager.save(Portrait(id: 1, author: Reference(id: 1)))
        #expect(try await counter.manager.deleteAll(Author.self) == 1)
        #expect(try counter.strings("SELECT count(*) FROM ZPORTRAIT WHERE ZAUTHOR IS NULL") == ["1"])
    }
}

private struct Fig: CoreModel {
    let id: Int64
    var name: String
}

private struct Gem: CoreModel {
    let id: Int
    var cut: String
}

private struct Ring: CoreModel {
    let id: UUID
    var gems: [Gem]
    static var schema: Schema<Ring> { Schema(.owns(\.gems)) }
}

private struct Day: CoreModel {
    let id: Date
    var name: String
}

@Suite("Deleting models by identifiers and filters")
struct DeletingSomeTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    @Test("counts each once, whoever asks for it again, and does not see it any more")
    func flat() throws {
        let manager = PersistenceManager(models: Fig.self, store: .file(folder.store))
        try manager.writeAndWait { try $0.save((0..<1_000).map { Fig(id: $0, name: "\($0)") }) }
        try manager.writeAndWait { store in
            #expect(try store.delete(Fig.self, ids: Array(0..<600) + [5, 5, 99_999]) == 600)
            #expect(try store.delete(Fig.self, ids: [3, 700]) == 1)
            #expect(try store.delete(Fig.self, where: \.id >= 990) == 10)
            #expect(try store.count(Fig.self) == 389)
            #expect(try store.find(Fig.self, id: 5) == nil)
            try store.save(Fig(id: 5, name: "again"))
        }
        #expect(try manager.readAndWait { try $0.find(Fig.self, id: 5) }?.name == "again")
        #expect(try plainRows("SELECT count(*) FROM ZFIG", in: folder.store) == [["390"]])
    }

    @Test("takes along what they own, and leaves owners of what is deleted")
    func owners() throws {
        let manager = PersistenceManager(models: Ring.self, store: .file(folder.store))
        let rings = (0..<40).map { number in
            Ring(id: UUID(), gems: [Gem(id: number * 2, cut: "a"), Gem(id: number * 2 + 1, cut: "b")])
        }
        try manager.writeAndWait { try $0.save(rings) }
        #expect(try manager.writeAndWait { try $0.delete(Ring.self, ids: rings.prefix(15).map(\.id)) } == 15)
        #expect(try manager.readAndWait { try $0.count(Gem.self) } == 50)
        #expect(try manager.writeAndWait { try $0.delete(Gem.self, ids: [79, 78, 1]) } == 2)
        #expect(try manager.readAndWait { try $0.find(Ring.self, id: rings[39].id) }?.gems.isEmpty == true)
        #expect(try manager.writeAndWait { try $0.deleteAll(Ring.self) } == 25)
        #expect(try plainRows("SELECT count(*) FROM ZGEM", in: folder.store) == [["0"]])
    }

    @Test("finds models whose identifiers are dates")
    func dates() throws {
        let manager = PersistenceManager(models: Day.self, store: .file(folder.store))
        let days = (0..<20).map { Day(id: Date(timeIntervalSinceReferenceDate: Double($0) + 0.5), name: "\($0)") }
        try manager.writeAndWait { try $0.save(days) }
        #expect(try manager.writeAndWait { try $0.delete(Day.self, ids: [days[3].id, .distantPast]) } == 1)
        #expect(try manager.readAndWait { try $0.count(Day.self) } == 19)
    }
}
