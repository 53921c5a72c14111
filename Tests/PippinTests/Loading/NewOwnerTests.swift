import Pippin
import TestSupport
import Testing

private struct Book: CoreModel, Equatable {
    let id: String
    var title = "t"
}

private enum Before {
    struct Store: CoreModel, Equatable {
        let id: Int
        var books: [Book]
        var gifts: Set<Page> = []
        var cover: Page?
    }
}

private struct Page: CoreModel, Hashable { let id: String }

private enum Now {
    struct Store: CoreModel, Equatable {
        let id: Int
        var books: [Book]
        var gifts: Set<Page> = []
        var cover: Page?
        static var schema: Schema<Store> { Schema(.owns(\.books), .owns(\.gifts), .owns(\.cover)) }
    }
    struct Renamed: CoreModel, Equatable {
        let id: Int
        var volumes: [Book]
        var gifts: Set<Page> = []
        var cover: Page?
        static var schema: Schema<Renamed> {
            Schema(.owns(\.volumes), .renamed(\.volumes, from: "books"), name: "Store")
        }
    }
}

@Suite("Models that are to own what they shared")
struct NewOwnerTests {
    private let place: StorePlace

    init() throws { place = try StorePlace() }

    private func save(_ stores: Before.Store...) async throws {
        let manager = try place.loaded([Before.Store.self])
        try await manager.save(stores)
        try await manager.save(Book(id: "nobody's"))
    }

    @Test("own it when each is in one only, in order")
    func owned() async throws {
        try await save(
            Before.Store(
                id: 1, books: [Book(id: "c"), Book(id: "a")], gifts: [Page(id: "p"), Page(id: "q")],
                cover: Page(id: "r")),
            Before.Store(id: 2, books: [Book(id: "b")]), Before.Store(id: 3, books: []))
        let wanted = [
            Now.Store(
                id: 1, books: [Book(id: "c"), Book(id: "a")], gifts: [Page(id: "p"), Page(id: "q")],
                cover: Page(id: "r")),
            Now.Store(id: 2, books: [Book(id: "b")]), Now.Store(id: 3, books: []),
        ]
        for _ in 0..<2 {
            let manager = try place.loaded([Now.Store.self])
            #expect(try await manager.fetch(Now.Store.self, sortedBy: .ascending(\.id)) == wanted)
        }
        let manager = try place.loaded([Now.Store.self])
        try await manager.delete(wanted[0])
        let left = try await manager.fetch(Book.self, sortedBy: .ascending(\.id)).map(\.id)
        #expect(left == ["b", "nobody's"])
        #expect(try await manager.count(Page.self) == 0)
    }

    @Test("are an error when some are in several, which lists them, and the store is as it was")
    func shared() async throws {
        try await save(
            Before.Store(id: 1, books: [Book(id: "a"), Book(id: "b")]),
            Before.Store(id: 2, books: [Book(id: "b"), Book(id: "c")]))
        let tables = try place.text("SELECT group_concat(sql) FROM sqlite_master")
        for type in [Now.Store.self, Now.Renamed.self] as [any CoreModel.Type] {
            let error = #expect(throws: PersistenceError.self) { _ = try place.loaded([type]) }
            #expect(error?.code == .notUnique)
            #expect(error?.entity == "Store")
            #expect(error?.property == "books")
            #expect(error?.known == ["'b' (in 2)"])
        }
        #expect(try place.text("SELECT group_concat(sql) FROM sqlite_master") == tables)
        let former = try place.loaded([Before.Store.self])
        #expect(try await former.fetch(Before.Store.self).map(\.books.count) == [2, 2])
    }

    @Test("own it under a new name as well")
    func renamed() async throws {
        try await save(Before.Store(id: 1, books: [Book(id: "b"), Book(id: "a")]))
        let manager = try place.loaded([Now.Renamed.self])
        #expect(try await manager.fetch(Now.Renamed.self).map { $0.volumes.map(\.id) } == [["b", "a"]])
    }
}
