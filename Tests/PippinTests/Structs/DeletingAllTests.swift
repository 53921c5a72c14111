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
