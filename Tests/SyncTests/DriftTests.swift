import Foundation
import PippinPostgres
import PippinSync
import PostgresServer
import TestSupport
import Testing

@Suite("A check of all rows", .ownThread)
struct DriftTests {
    private func file(_ shop: SyncShop, _ name: String) -> URL {
        shop.folder.url.appendingPathComponent("\(name).sqlite")
    }

    private func filled(server: StoreLocation? = nil) async throws -> SyncShop {
        let shop = try await SyncShop(server: server)
        var shelf = Shelf(id: "s", name: "S", books: (0..<300).map { Book(id: "b\($0)", title: "T\($0)") })
        shelf.books[7].tags = [Tag(id: "t", name: "novel")]
        try await shop[0].save(shelf)
        try await shop[0].save((0..<50).map { Account(id: $0, title: "A\($0)", balance: Decimal($0) / 4) })
        try await shop[0].save(Slot(id: UUID(), place: "door"))
        try await shop.settle()
        return shop
    }

    @Test("finds nothing where both sides are the same, whatever is unsent")
    func same() async throws {
        let shop = try await filled()
        for device in shop.devices { #expect(try await device.sync.check() == []) }
        try await shop[1].update(Book.self, where: \.id == "b3") { $0.set(\.note, to: "unsent") }
        #expect(try await shop.devices[1].sync.check() == [])
        await shop.end()
    }

    @Test("finds rows that were changed, removed or added past a file's history, repairs them, and says so")
    func device() async throws {
        let shop = try await filled()
        let damaged = file(shop, "device1")
        try execute("UPDATE ZBOOK SET ZTITLE = 'damaged', ZSTOCK = 9 WHERE ZID = 'b5'", in: damaged)
        try execute("DELETE FROM ZACCOUNT WHERE ZID = 4", in: damaged)
        try execute("UPDATE ZACCOUNT SET ZID = 777 WHERE ZID = 5", in: damaged)
        let sync = shop.devices[1].sync
        let states = sync.states
        let found = try await sync.check()
        #expect(
            found.map(\.description).sorted() == [
                "Account 4 was missing", "Account 5 was missing", "Account 777 was not on the server",
                "Book b5 differed in stock, title",
            ])
        #expect(sync.state == .repaired(4))
        #expect(try await shop.devices[1].text() == shop.devices[0].text())
        #expect(try await shop.serverText() == shop.devices[0].text())
        #expect(try await sync.check() == [])
        // A repair is not an edit of the device's.
        try await shop.settle()
        #expect(try await shop[0].find(Book.self, id: "b5") == Book(id: "b5", title: "T5"))
        await shop.end()
        var seen: [StoreSync.State] = []
        for await state in states { seen.append(state) }
        #expect(seen.contains(.repaired(4)))
    }

    @Test("brings what was changed past the server's history, and keeps what is unsent on top")
    func server() async throws {
        let shop = try await filled()
        try execute(
            "UPDATE ZBOOK SET ZTITLE = 'by hand', ZSTOCK = 5 WHERE ZID IN ('b6', 'b7')", in: file(shop, "server"))
        try await shop[0].update(Book.self, where: \.id == "b6") { change in
            change.set(\.note, to: "unsent")
            change.set(\.stock, to: 2)
        }
        // Nobody has heard of it.
        #expect(try await shop[0].find(Book.self, id: "b7")?.title == "T7")
        #expect(try await shop.devices[0].sync.check().count == 2)
        #expect(try await shop[0].find(Book.self, id: "b7")?.title == "by hand")
        let book = try #require(try await shop[0].find(Book.self, id: "b6"))
        #expect(book.title == "by hand" && book.note == "unsent")
        try await shop.settle()
        #expect(try await shop[1].find(Book.self, id: "b6")?.note == "unsent")
        _ = try await shop.devices[1].sync.check()
        #expect(try await shop.devices[1].text() == shop.serverText())
        await shop.end()
    }

    @Test("does the same with a PostgreSQL server and psql", .needsPostgres)
    func postgres() async throws {
        let database = try TestDatabase()
        let shop = try await filled(server: .postgres(database.uri(), keepsHistory: .always))
        for device in shop.devices { #expect(try await device.sync.check() == []) }
        let sql = try database.connect()
        _ = try sql.query("UPDATE book SET title = 'by psql' WHERE id = 'b9'")
        _ = try sql.query("DELETE FROM account WHERE id = 7")
        let found = try await shop.devices[1].sync.check()
        #expect(
            found.map(\.description).sorted() == ["Account 7 was not on the server", "Book b9 differed in title"])
        #expect(try await shop[1].find(Book.self, id: "b9")?.title == "by psql")
        #expect(try await shop[1].find(Account.self, id: 7) == nil)
        try execute("UPDATE ZBOOK SET ZNOTE = 'by sqlite3'", in: file(shop, "device1"))
        #expect(try await shop.devices[1].sync.check().count == 300)
        #expect(try await shop.devices[1].text() == shop.serverText())
        await shop.end()
    }
}
