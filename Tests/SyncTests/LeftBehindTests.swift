import Foundation
import PippinSync
import TestSupport
import Testing

@Suite("A device that was away for longer than the server's history", .ownThread)
struct LeftBehindTests {
    @Test("gets everything anew: deleted rows are gone, and what it has not sent is sent or in the journal")
    func leftBehind() async throws {
        let shop = try await SyncShop()
        try await shop[0].save((0..<40).map { Book(id: "b\($0)", title: "T\($0)") })
        try await shop.settle()
        try await shop[0].delete(Book.self, ids: (0..<20).map { "b\($0)" })
        try await shop[0].save(Book(id: "new", title: "N"))
        try await shop.devices[0].sync.finish()
        for number in 10..<40 {
            try await shop[1].update(Book.self, where: \.id == "b\(number)") { $0.set(\.note, to: "mine") }
        }
        try await shop[1].save(Book(id: "own", title: "O"))
        let server = SyncShop.manager(shop.server)
        try await server.history.delete(before: Date().addingTimeInterval(60))
        await server.close()
        try await shop.settle()
        let books = try await shop[1].fetch(Book.self)
        #expect(Set(books.map(\.id)) == Set((20..<40).map { "b\($0)" } + ["new", "own"]))
        #expect(books.count { $0.note == "mine" } == 20)
        let refused = try await shop.devices[1].sync.refused()
        #expect(refused.map(\.reason) == Array(repeating: .isDeleted, count: 10))
        let text = try await shop.devices[1].text()
        #expect(try await shop.devices[0].text() == text)
        #expect(try await shop.serverText() == text)
        await shop.end()
    }
}
