import Foundation
import PippinSync
import TestSupport
import Testing

@Suite("Two files and a server", .ownThread)
struct SyncTests {
    @Test("are in step: what one device saves, changes and deletes is on the server and on the other")
    func inStep() async throws {
        let shop = try await SyncShop()
        var emma = Book(id: "emma", title: "Emma", size: Size(pages: 400, weight: 0.5), printed: Date())
        emma.tags = [Tag(id: "t1", name: "novel")]
        try await shop[0].save(Shelf(id: "s", name: "Classics", books: [emma, Book(id: "b2", title: "Persuasion")]))
        try await shop[0].save(Account(id: 1, title: "till", balance: 12.50))
        try await shop[0].save(Slot(id: UUID(), place: "door"))
        try await shop.settle()
        let text = try await shop.devices[0].text()
        #expect(text.contains("shelf s Classics: emma b2"))
        #expect(try await shop.devices[1].text() == text)
        #expect(try await shop.serverText() == text)
        emma.title = "Emma!"
        try await shop[1].save(emma)
        try await shop[1].delete(Slot.self, where: \.place == "door")
        try await shop.settle()
        let changed = try await shop.devices[1].text()
        #expect(changed.contains("Emma!") && !changed.contains("door"))
        #expect(try await shop.devices[0].text() == changed)
        #expect(try await shop.serverText() == changed)
        await shop.end()
    }

    @Test("join edits of different properties, add numbers, and keep the larger one and the later edit of one property")
    func merging() async throws {
        let shop = try await SyncShop()
        try await shop[0].save(Book(id: "b", title: "A", stock: 10, readUpTo: 5))
        try await shop.settle()
        try await shop[0].update(Book.self, where: \.id == "b") { book in
            book.set(\.note, to: "mine")
            book.set(\.stock, to: 13)
            book.set(\.title, to: "early")
            book.set(\.readUpTo, to: 9)
        }
        try await Task.sleep(for: .milliseconds(20))
        try await shop[1].update(Book.self, where: \.id == "b") { book in
            book.set(\.title, to: "late")
            book.set(\.stock, to: 8)
            book.set(\.readUpTo, to: 7)
        }
        // The later edit arrives first.
        try await shop.devices[1].sync.finish()
        try await shop.settle()
        let book = try #require(try await shop[0].find(Book.self, id: "b"))
        #expect(book.title == "late" && book.note == "mine" && book.stock == 11 && book.readUpTo == 9)
        #expect(try await shop.devices[1].text() == shop.devices[0].text())
        await shop.end()
    }

    @Test("keep all that both insert into one list, each run together, and in one order")
    func lists() async throws {
        let shop = try await SyncShop()
        func books(_ names: String...) -> [Book] { names.map { Book(id: $0, title: $0) } }
        try await shop[0].save(Shelf(id: "s", name: "S", books: books("a", "b", "c")))
        try await shop.settle()
        try await shop[0].save(Shelf(id: "s", name: "S", books: books("a", "x1", "x2", "b", "c")))
        try await shop[1].save(Shelf(id: "s", name: "S", books: books("c", "a", "y1", "y2")))
        try await shop.settle()
        let text = try await shop.devices[0].text()
        #expect(text.contains("shelf s S: c a x1 x2 y1 y2\n") || text.hasSuffix("shelf s S: c a x1 x2 y1 y2"))
        #expect(try await shop.devices[1].text() == text)
        #expect(try await shop.serverText() == text)
        await shop.end()
    }

    @Test("make one tag of two that were made with one name, and what refers to either refers to it")
    func joining() async throws {
        let shop = try await SyncShop(8)
        for number in 0..<8 {
            var book = Book(id: "b\(number)", title: "B")
            book.tags = [Tag(id: "t\(number)", name: "Family")]
            try await shop[number].save(book)
        }
        try await shop.settle()
        let text = try await shop.devices[0].text()
        let lines = text.split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("tag") } == ["tag t0 Family 0"])
        #expect(lines.filter { $0.hasPrefix("book") && $0.hasSuffix("[\"t0\"]") }.count == 8)
        for device in shop.devices {
            #expect(try await device.text() == text)
            #expect(try await device.sync.refused().isEmpty)
        }
        #expect(try await shop.serverText() == text)
        await shop.end()
    }

    @Test("keep what was not taken in a journal, from which it is saved again or discarded")
    func journal() async throws {
        let shop = try await SyncShop()
        try await shop[0].save([Book(id: "b", title: "A", note: "whole"), Book(id: "c", title: "C")])
        try await shop.settle()
        try await shop[0].delete(Book.self, ids: ["b", "c"])
        for id in ["b", "c"] {
            try await shop[1].update(Book.self, where: \.id == id) { $0.set(\.title, to: "B") }
        }
        try await shop.settle()
        #expect(try await shop[1].find(Book.self, id: "b") == nil)
        let sync = shop.devices[1].sync
        let refused = try await sync.refused()
        #expect(refused.map(\.reason) == [.isDeleted, .isDeleted])
        #expect(refused.first?.id == "b" && refused.first?.value(of: "title") == "B")
        #expect(sync.state == .refused(2))
        try await refused[0].saveAgain()
        try await refused[1].discard()
        try await shop.settle()
        #expect(try await shop[0].find(Book.self, id: "b") == Book(id: "b", title: "B", note: "whole"))
        #expect(try await shop[0].find(Book.self, id: "c") == nil)
        #expect(try await sync.refused().isEmpty)
        await shop.end()
    }

    @Test("let a model live that one deletes while the other changes it, where its rule says so")
    func keptEdits() async throws {
        let shop = try await SyncShop()
        try await shop[0].save(Account(id: 1, title: "A", balance: 1.5))
        try await shop.settle()
        try await shop[0].delete(Account.self, id: 1)
        try await shop[1].update(Account.self, where: \.id == 1) { $0.set(\.title, to: "B") }
        try await shop.settle()
        #expect(try await shop[0].find(Account.self, id: 1) == Account(id: 1, title: "B", balance: 1.5))
        #expect(try await shop.devices[1].text() == shop.devices[0].text())
        await shop.end()
    }

    @Test("refuse a value that another device has taken, and go on with what was saved afterwards")
    func takenValue() async throws {
        let shop = try await SyncShop()
        let (one, two) = (UUID(), UUID())
        try await shop[0].save(Slot(id: one, place: "door"))
        try await shop[1].save(Slot(id: two, place: "door"))
        try await shop[1].save(Book(id: "b", title: "B"))
        try await shop.settle()
        #expect(try await shop[1].fetch(Slot.self) == [Slot(id: one, place: "door")])
        #expect(
            try await shop.devices[1].sync.refused().map(\.reason) == [
                .valueIsTaken(properties: ["place"], by: one.uuidString)
            ])
        #expect(try await shop[0].find(Book.self, id: "b") != nil)
        await shop.end()
    }

    @Test("bring back a model whose deletion was not taken, with its list in order and its set")
    func refusedDeletion() async throws {
        let shop = try await SyncShop()
        let tags: Set = [Tag(id: "t1", name: "a"), Tag(id: "t2", name: "b")]
        try await shop[0].save(
            Crate(id: "c", name: "C", books: ["b3", "b1", "b2"].map { Book(id: $0, title: $0) }, tags: tags))
        try await shop.settle()
        try await shop[0].update(Crate.self, where: \.id == "c") { $0.set(\.name, to: "edited") }
        try await shop[1].delete(Crate.self, id: "c")
        #expect(try await shop[1].count(Crate.self) == 0)
        try await shop.settle()
        for device in 0..<2 {
            let crate = try #require(try await shop[device].find(Crate.self, id: "c"))
            #expect(crate.name == "edited" && crate.books.map(\.id) == ["b3", "b1", "b2"] && crate.tags == tags)
        }
        #expect(try await shop.devices[1].sync.refused().map(\.reason) == [.isChanged])
        #expect(try await shop.devices[1].sync.check() == [])
        await shop.end()
    }
}
