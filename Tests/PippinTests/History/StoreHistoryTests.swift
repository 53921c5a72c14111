import CoreData
import Foundation
import Pippin
import PippinRecords
import SQLiteConnection
import TestSupport
import Testing

private struct Size: Codable, Equatable {
    var pages: Int
    var weight: Double?
}

private struct Chronicler: CoreModel, Equatable {
    let id: Int
    var name: String
}

private struct Novel: CoreModel, Equatable {
    let id: String
    var title: String
    var price: Decimal = 0
    var size = Size(pages: 0)
    var printed: Date?
    var writer: Reference<Chronicler>?
    var tags: [String] = []
}

/// A store with a history in a folder of its own.
private struct HistoryShop {
    let folder: TestFolder
    let file: URL
    let manager: PersistenceManager

    init(keeps history: HistoryKeeping? = .always) throws {
        folder = try TestFolder()
        file = folder.url.appendingPathComponent("shop.sqlite")
        manager = Self.manager(file, history, author: "till 1")
    }

    static func manager(_ file: URL, _ history: HistoryKeeping?, author: String?) -> PersistenceManager {
        PersistenceManager(
            models: Novel.self, Chronicler.self, store: .file(file, keepsHistory: history, author: author))
    }

    func other(author: String? = "till 2") -> PersistenceManager { Self.manager(file, .always, author: author) }

    /// The changes of all novels after a place, as text.
    func story(after token: HistoryToken? = nil) async throws -> [String] {
        try await manager.history.transactions(after: token).flatMap { transaction in
            try transaction.changes(of: Novel.self).map { change in
                let title = try change.values(of: \.title)
                let words = [
                    "\(change.kind)", change.id ?? "?", (change.properties ?? []).sorted().joined(separator: ","),
                    title.map { "\($0.old ?? "-")>\($0.new ?? "-")" } ?? "",
                ]
                return words.filter { !$0.isEmpty }.joined(separator: " ")
            }
        }
    }
}

@Suite("The history of a store of structs")
struct StoreHistoryTests {
    private let shop: HistoryShop
    private var manager: PersistenceManager { shop.manager }

    init() throws { shop = try HistoryShop() }

    @Test("tells what was inserted, changed and deleted, what it was before, who did it and when")
    func story() async throws {
        let start = Date()
        var emma = Novel(id: "emma", title: "Emma")
        try await manager.save(emma)
        emma.title = "Emma!"
        try await shop.other().save(emma)
        try await manager.delete(emma)
        #expect(
            try await shop.story() == [
                "inserted emma ->Emma", "changed emma title Emma>Emma!", "deleted emma Emma!>-",
            ])
        let transactions = try await manager.history.transactions()
        #expect(transactions.map(\.author) == ["till 1", "till 2", "till 1"])
        #expect(transactions.allSatisfy { $0.date >= start.addingTimeInterval(-1) && $0.date <= Date() })
        #expect(transactions.allSatisfy { $0.program == ProcessInfo.processInfo.processName })
        #expect(try transactions.allSatisfy { try $0.changes(of: Chronicler.self).isEmpty })
    }

    @Test("tells for each transaction the value that it left, whatever was saved later")
    func valuesBetween() async throws {
        for title in ["A", "B", "C"] { try await manager.save(Novel(id: "1", title: title)) }
        let first = try await manager.history.transactions(limit: 2)
        #expect(
            try first.flatMap { try $0.changes(of: Novel.self) }.map { try $0.values(of: \.title)?.new } == ["A", "B"])
        try await manager.delete(Novel.self, id: "1")
        let later = try await manager.history.transactions(after: first[1].token)
        let titles = try later.flatMap { try $0.changes(of: Novel.self) }.map { try $0.values(of: \.title) }
        #expect(titles == [ChangedValue(old: "B", new: "C"), ChangedValue(old: "C", new: nil)])
    }

    @Test("tells values of all kinds as they were: none, numbers, dates, parts of nested structs, references")
    func kinds() async throws {
        let writers = [Chronicler(id: 1, name: "Jane"), Chronicler(id: 2, name: "Mary")]
        try await manager.save(writers)
        let date = Date(timeIntervalSinceReferenceDate: 1.5)
        var novel = Novel(id: "1", title: "A", price: Decimal(string: "1234567890123.45") ?? 0)
        novel.writer = Reference(writers[0])
        try await manager.save(novel)
        let token = try await manager.history.latest()
        var changed = novel
        (changed.price, changed.size, changed.printed) = (1, Size(pages: 7, weight: 0.1), date)
        changed.writer = Reference(writers[1])
        try await manager.save(changed)
        changed.printed = nil
        try await manager.save(changed)
        let changes = try await manager.history.transactions(after: token).flatMap { try $0.changes(of: Novel.self) }
        let change = try #require(changes.first)
        #expect(change.properties?.sorted() == ["price", "printed", "size", "writer"])
        #expect(try change.values(of: \.price) == ChangedValue(old: novel.price, new: 1))
        #expect(try change.values(of: \.size.pages) == ChangedValue(old: 0, new: 7))
        #expect(try change.values(of: \.size.weight) == ChangedValue(old: .some(nil), new: 0.1))
        #expect(try change.values(of: \.printed) == ChangedValue(old: .some(nil), new: date))
        #expect(try change.values(of: \.writer) == ChangedValue(old: novel.writer, new: changed.writer))
        #expect(try change.values(of: \.title) == nil)
        #expect(try changes[1].values(of: \.printed) == ChangedValue(old: date, new: .some(nil)))
        #expect(throws: PersistenceError.self) { _ = try change.values(of: \.tags) }
    }

    @Test("has what is changed and deleted by a condition, each model with what it was")
    func batches() async throws {
        try await manager.save((1...3).map { Novel(id: "\($0)", title: "T\($0)") })
        let token = try await manager.history.latest()
        try await manager.update(Novel.self, where: \.id > "1") { $0.set(\.title, to: "New") }
        try await manager.delete(Novel.self, where: \.id < "3")
        #expect(
            try await shop.story(after: token) == [
                "changed 2 title T2>New", "changed 3 title T3>New", "deleted 1 T1>-", "deleted 2 New>-",
            ])
    }

    @Test("goes on after a coded token, in another run of the program")
    func token() async throws {
        try await manager.save(Novel(id: "1", title: "A"))
        let bytes = try JSONEncoder().encode(try #require(try await manager.history.transactions().last?.token))
        await manager.close()
        let next = shop.other()
        try await next.save(Novel(id: "2", title: "B"))
        let token = try JSONDecoder().decode(HistoryToken.self, from: bytes)
        let transactions = try await next.history.transactions(after: token)
        #expect(try transactions.flatMap { try $0.changes(of: Novel.self) }.map(\.id) == ["2"])
        #expect(try await next.history.latest() == transactions.last?.token)
    }

    @Test("is followed: what is there, and then each save, also another manager's")
    func following() async throws {
        try await manager.save(Novel(id: "1", title: "A"))
        var changes = manager.history.changes().makeAsyncIterator()
        #expect(try await changes.next()?.author == "till 1")
        let other = shop.other()
        try await other.save(Novel(id: "2", title: "B"))
        #expect(try await changes.next()?.author == "till 2")
        try await manager.write { store in
            try store.save(Novel(id: "3", title: "C"))
            try store.delete(Novel.self, id: "1")
        }
        let last = try #require(try await changes.next())
        #expect(Set(try last.changes(of: Novel.self).map(\.kind)) == [.inserted, .deleted])
    }

    @Test("is followed from a place long ago, portion by portion, each value as it was then")
    func longHistory() async throws {
        for number in 0..<250 { try await manager.save(Novel(id: "\(number % 3)", title: "\(number)")) }
        var titles: [String] = []
        for try await transaction in manager.history.changes() {
            titles += try transaction.changes(of: Novel.self).compactMap { try $0.values(of: \.title)?.new }
            if titles.count == 250 { break }
        }
        #expect(titles == (0..<250).map(String.init))
    }

    @Test("ends with the task that follows it")
    func cancelling() async throws {
        let history = manager.history
        let follower = Task { for try await _ in history.changes() {} }
        try await Task.sleep(for: .milliseconds(50))
        follower.cancel()
        _ = await follower.result
    }

    @Test("has saves of objects, with what was before")
    func objects() async throws {
        try await manager.save(Novel(id: "1", title: "A"))
        let token = try await manager.history.latest()
        let context = manager.container.newBackgroundContext()
        try await context.perform {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Novel")
            try context.fetch(request).first?.setValue("B", forKey: "title")
            context.transactionAuthor = "objects"
            try context.save()
        }
        #expect(try await shop.story(after: token) == ["changed 1 title A>B"])
        #expect(try await manager.history.transactions(after: token).map(\.author) == ["objects"])
    }

    @Test("is deleted before a date; a place before it is refused, saying why")
    func deletion() async throws {
        let none = try await manager.history.latest()
        try await manager.save(Novel(id: "1", title: "A"))
        try await manager.save(Novel(id: "1", title: "B"))
        try await manager.history.delete(before: Date().addingTimeInterval(60))
        #expect(try await manager.history.transactions().isEmpty)
        let error = await #expect(throws: PersistenceError.self) { try await manager.history.transactions(after: none) }
        #expect(error?.code == .historyExpired)
        #expect(error?.description.contains("were deleted") == true)
        let last = try await manager.history.latest()
        try await manager.save(Novel(id: "1", title: "C"))
        #expect(try await shop.story(after: last) == ["changed 1 title B>C"])
    }

    @Test("is not that of another store, nor there where nobody asked for one")
    func others() async throws {
        try await manager.save(Novel(id: "1", title: "A"))
        let other = try HistoryShop()
        let foreign = try await other.manager.history.latest()
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.history.transactions(after: foreign)
        }
        #expect(error?.code == .historyExpired)
        let plain = try HistoryShop(keeps: nil)
        let missing = await #expect(throws: PersistenceError.self) { try await plain.manager.history.latest() }
        #expect(missing?.code == .noHistory)
        #expect(missing?.description.contains("keepsHistory: .always") == true)
    }
}

/// These look at the file by plain SQL.
@Suite("The history in a file")
struct HistoryFileTests {
    @Test("has the names of what other programs have changed, and no values")
    func otherPrograms() async throws {
        let shop = try HistoryShop()
        let manager = shop.manager
        try await manager.save([Novel(id: "1", title: "A"), Novel(id: "2", title: "X")])
        let token = try await manager.history.latest()
        try await manager.save(Novel(id: "1", title: "B"))
        try await manager.delete(Novel.self, id: "2")
        #expect(try plainSQL("SELECT count(*) FROM PIPPIN_HISTORY", in: shop.file) == ["2"])
        // As if a program that knows nothing of Pippin had done it.
        let connection = try Connection(path: shop.file.path, mode: .readWrite)
        try connection.execute("DELETE FROM PIPPIN_HISTORY")
        #expect(try await shop.story(after: token) == ["changed 1 title ->B", "deleted ? ->-"])
    }

    @Test("keeps values only of changes that are there")
    func forgotten() async throws {
        let shop = try HistoryShop()
        try await shop.manager.save(Novel(id: "1", title: "A"))
        try await shop.manager.save(Novel(id: "1", title: "B"))
        #expect(try plainSQL("SELECT count(*) FROM PIPPIN_HISTORY", in: shop.file) == ["1"])
        try await shop.manager.history.delete(before: Date().addingTimeInterval(60))
        #expect(try plainSQL("SELECT count(*) FROM PIPPIN_HISTORY", in: shop.file) == ["0"])
    }

    @Test("loses what is older than it is to be kept when the store is opened")
    func days() async throws {
        let shop = try HistoryShop(keeps: .days(30))
        try await shop.manager.save(Novel(id: "1", title: "A"))
        try await shop.manager.save(Novel(id: "1", title: "B"))
        await shop.manager.close()
        let connection = try Connection(path: shop.file.path, mode: .readWrite)
        try connection.execute("UPDATE ATRANSACTION SET ZTIMESTAMP = ZTIMESTAMP - 31 * 86400 WHERE Z_PK = 1")
        let next = HistoryShop.manager(shop.file, .days(30), author: nil)
        let kinds = try await next.history.transactions().flatMap { try $0.changes(of: Novel.self) }.map(\.kind)
        #expect(kinds == [.changed])
    }

    @Test("is part of the store: a manager that keeps none reads it only")
    func withoutHistory() async throws {
        let shop = try HistoryShop()
        try await shop.manager.save(Novel(id: "1", title: "A"))
        await shop.manager.close()
        let plain = HistoryShop.manager(shop.file, nil, author: nil)
        #expect(try await plain.fetch(Novel.self).map(\.title) == ["A"])
        await #expect(throws: PersistenceError.self) { try await plain.save(Novel(id: "1", title: "B")) }
    }
}
