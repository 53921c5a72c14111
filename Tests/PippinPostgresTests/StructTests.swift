import CoreDataPostgres
import Foundation
import PippinPostgres
import PostgresServer
import Synchronization
import TestSupport
import Testing

@Suite("Structs in PostgreSQL", .needsPostgres)
struct StructTests {
    @Test("are saved, found, fetched, changed where a filter holds, and deleted")
    func verbs() async throws {
        let shop = try Shop()
        let books = (1...5).map { Book(id: "\($0)", title: "Title \($0)", price: Double($0)) }
        try await shop.manager.save(books)
        #expect(try await shop.manager.find(Book.self, id: "3") == books[2])
        let cheap = try await shop.manager.fetch(Book.self, where: \.price < 3, sortedBy: .descending(\.title))
        #expect(cheap.map(\.id) == ["2", "1"])
        #expect(try await shop.manager.update(Book.self, where: \.price > 3) { $0.set(\.pages, to: 100) } == 2)
        #expect(try await shop.manager.count(Book.self, where: \.pages == 100) == 2)
        try await shop.manager.delete(Book.self, where: \.price == 1)
        #expect(try await shop.manager.count(Book.self) == 4)
    }

    @Test("lead to others, which are saved and fetched with them, in order")
    func relationships() async throws {
        let shop = try Shop()
        let books = [Book(id: "b", title: "Second"), Book(id: "a", title: "First")]
        try await shop.manager.save([Author(id: "1", name: "Ann", books: books)])
        #expect(try await shop.manager.find(Author.self, id: "1")?.books == books)
    }

    @Test("are in tables that plain SQL reads")
    func tables() async throws {
        let shop = try Shop()
        try await shop.manager.save([Book(id: "1", title: "Emma", price: 5)])
        #expect(try shop.database.rows("SELECT title, price FROM public.book") == [["Emma", "5"]])
    }

    @Test("are refused with the reason where two have dates within one microsecond as identifiers")
    func closeDates() async throws {
        struct Moment: CoreModel, Equatable {
            let id: Date
            var name: String
        }
        let database = try TestDatabase()
        let manager = PersistenceManager(models: Moment.self, store: .postgres(database.uri()))
        let dates = [1.000_000_1, 1.000_000_2].map(Date.init(timeIntervalSinceReferenceDate:))
        let moments = dates.map { Moment(id: $0, name: "\($0.timeIntervalSinceReferenceDate)") }
        for isReplacing in [false, true] {
            let error = await #expect(throws: PersistenceError.self) {
                try await manager.write { store in
                    if isReplacing { try store.replaceAll(with: moments) } else { try store.save(moments) }
                }
            }
            #expect(error?.code == .unwritable && error?.reason?.contains("microsecond") == true)
        }
        try await manager.save(moments[0])
        // It is the same one.
        try await manager.save(moments[1])
        #expect(try await manager.fetch(Moment.self).map(\.name) == [moments[1].name])
    }

    @Test("are destroyed in a schema that was described after another one of the database was opened")
    func describedLater() async throws {
        let database = try TestDatabase()
        for schema in ["first", "second"] {
            try await PersistenceManager(models: Book.self, store: .postgres(database.uri(), schema: schema)).save(
                Book(id: "1", title: "Emma"))
        }
        let manager = PersistenceManager(models: Book.self, store: .postgres(database.uri()))
        let described = try #require(manager.container.persistentStoreDescriptions.first)
        manager.container.persistentStoreDescriptions = ["first", "second"].map { schema in
            let description = NSPersistentStoreDescription(url: described.url!)
            description.type = described.type
            for (key, option) in described.options { description.setOption(option, forKey: key) }
            description.setOption(schema as NSString, forKey: NSPostgreSQLSchemaOption)
            return description
        }
        let descriptions = manager.container.persistentStoreDescriptions
        manager.container.persistentStoreDescriptions = [descriptions[0]]
        try await manager.load()
        manager.container.persistentStoreDescriptions = descriptions
        try await manager.destroy()
        for schema in ["first", "second"] {
            let emptied = PersistenceManager(models: Book.self, store: .postgres(database.uri(), schema: schema))
            #expect(try await emptied.count(Book.self) == 0)
        }
    }

    @Test("cannot be imported where there is no database: that is not the fault of theirs")
    func noDatabase() async throws {
        let nowhere = try PostgresServer.shared().uri(database: "nowhere")
        let manager = PersistenceManager(models: Author.self, Book.self, store: .postgres(nowhere))
        let books = AsyncStream<Book> { continuation in
            for number in 1...3 { continuation.yield(Book(id: "\(number)", title: "Title \(number)")) }
            continuation.finish()
        }
        await #expect(throws: PersistenceError.self) { try await manager.importModels(books) }
    }

    private struct Event: CoreModel {
        let id: Date
        var name: String
        var guests: [Author] = []
    }

    private struct Moment: CoreModel {
        let id: Date
        var name: String
    }

    @Test("are found by dates as identifiers, although a server keeps microseconds")
    func dates() async throws {
        let database = try TestDatabase()
        let manager = PersistenceManager(models: Event.self, Moment.self, store: .postgres(database.uri()))
        let dates = [700_000_000.123_456_7, 0.1, 1.000_000_4].map(Date.init(timeIntervalSinceReferenceDate:))
        try await manager.save(dates.map { Event(id: $0, name: "\($0.timeIntervalSinceReferenceDate)") })
        try await manager.save(dates.map { Moment(id: $0, name: "\($0.timeIntervalSinceReferenceDate)") })
        let names = dates.reversed().map { "\($0.timeIntervalSinceReferenceDate)" }
        #expect(try await manager.find(Event.self, ids: dates.reversed()).map(\.name) == names)
        #expect(try await manager.find(Moment.self, ids: dates.reversed()).map(\.name) == names)
        #expect(try await manager.find(Moment.self, id: dates[0])?.name == names[2])
    }

    private struct Guest: CoreModel {
        let id: Int
        var moment: Reference<Moment>
        var others: [Reference<Moment>] = []
    }

    @Test("are changed, referred to and deleted by dates as identifiers, as rows and as objects")
    func changedDates() async throws {
        let database = try TestDatabase()
        let manager = PersistenceManager(
            models: Event.self, Moment.self, Guest.self, store: .postgres(database.uri()))
        let dates = [700_000_000.123_456_7, 0.1, 1.000_000_4].map(Date.init(timeIntervalSinceReferenceDate:))
        let moments = dates.map { Moment(id: $0, name: "former") }
        try await manager.insert(moments)
        try await manager.update(Moment(id: dates[0], name: "present"))
        try await manager.save(dates.map { Event(id: $0, name: "former") })
        try await manager.save(dates.map { Event(id: $0, name: "present", guests: [Author(id: "1", name: "Ann")]) })
        #expect(try database.rows("SELECT count(*) FROM public.event WHERE name = 'present'") == [["3"]])
        await #expect(throws: PersistenceError.self) { try await manager.insert(moments[2]) }
        try await manager.save(Guest(id: 1, moment: Reference(id: dates[0]), others: dates.map { Reference(id: $0) }))
        try await manager.write { store in
            // Deletions make the block go through objects.
            try store.delete(Guest.self, id: 2)
            try store.update(Moment(id: dates[1], name: "present"))
            try store.save(Guest(id: 3, moment: Reference(id: dates[1])))
        }
        #expect(try database.rows("SELECT count(*) FROM public.moment WHERE name = 'present'") == [["2"]])
        try await manager.deleteAll(Guest.self)
        #expect(try await manager.delete(moments) == 3)
    }

    private struct Chapter: CoreModel {
        let id: String
        var title: String

        static var schema: Schema<Chapter> {
            Schema(.userInfo(["PippinSQLName": "part"]), .userInfo(\.title, ["PippinSQLName": "heading"]))
        }
    }

    @Test("are in the tables and columns that their schema names")
    func namedTables() async throws {
        let database = try TestDatabase()
        for id in ["1", "2"] {
            let manager = PersistenceManager(models: Chapter.self, store: .postgres(database.uri()))
            try await manager.save([Chapter(id: id, title: "Emma")])
        }
        let rows = try database.rows("SELECT id, heading FROM public.part ORDER BY 1")
        #expect(rows == [["1", "Emma"], ["2", "Emma"]])
    }

    @Test("show the statement of a request, as PostgreSQL runs it")
    func explained() async throws {
        let shop = try Shop()
        let sql = try await ModelRequest(Book.self).filter(\.price < 20).limit(10).sql(in: shop.manager)
        #expect(sql?.contains("FROM \"public\".\"book\" t0") == true, "\(sql ?? "nil")")
        #expect(sql?.contains("$1") == true)
    }

    @Test("show which part of a request the engine evaluates itself")
    func explainedInParts() async throws {
        let shop = try Shop()
        let request = ModelRequest(Book.self).filter(\.price < 20 && .like(\.title, "E*a")).limit(10)
        let sql = try #require(try await request.sql(in: shop.manager))
        #expect(sql.contains("\"price\" < $1"), "\(sql)")
        #expect(sql.contains("-- evaluated by Pippin"), "\(sql)")
    }
}

@Suite("Blocks on PostgreSQL", .needsPostgres)
struct BlockTests {
    @Test("see one state if they read, whatever others save meanwhile")
    func reading() async throws {
        let shop = try Shop()
        let other = shop.other()
        try await shop.manager.save([Book(id: "1", title: "Emma", price: 5)])
        try await other.load()
        let counts = try shop.manager.readAndWait { store in
            let first = try store.count(Book.self)
            try other.writeAndWait { try $0.save([Book(id: "2", title: "Persuasion")]) }
            return (first, try store.count(Book.self))
        }
        #expect(counts == (1, 1))
        #expect(try await shop.manager.count(Book.self) == 2)
    }

    @Test("run again if they write and others have saved what they read")
    func writing() async throws {
        let shop = try Shop()
        let other = shop.other()
        try await shop.manager.save([Book(id: "1", title: "Emma", pages: 1)])
        try await other.load()
        var runs = 0
        try shop.manager.writeAndWait { store in
            runs += 1
            guard var book = try store.find(Book.self, id: "1") else { return }
            if runs == 1 {
                try elsewhere {
                    try other.writeAndWait { _ = try $0.update(Book.self, where: .all) { $0.set(\.pages, to: 10) } }
                }
            }
            book.pages += 1
            try store.save([book])
        }
        #expect(runs == 2)
        #expect(try await shop.manager.find(Book.self, id: "1")?.pages == 11)
    }

    @Test("lose nothing of what they write when several programs count at the same time")
    func counting() async throws {
        let shop = try Shop()
        try await shop.manager.save([Book(id: "1", title: "Emma", pages: 0)])
        let others = [shop.manager, shop.other(), shop.other(), shop.other()]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for manager in others {
                group.addTask {
                    for _ in 0..<25 {
                        try await manager.write { store in
                            guard var book = try store.find(Book.self, id: "1") else { return }
                            book.pages += 1
                            try store.save([book])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await shop.manager.find(Book.self, id: "1")?.pages == 100)
    }

    @Test("leave nothing if they fail")
    func failing() async throws {
        struct Stop: Error {}
        let shop = try Shop()
        await #expect(throws: Stop.self) {
            try await shop.manager.write { store in
                try store.save([Book(id: "1", title: "Emma")])
                throw Stop()
            }
        }
        #expect(try await shop.manager.count(Book.self) == 0)
    }
}

@Suite("Observing PostgreSQL", .needsPostgres)
struct ObservingTests {
    @Test("tells what other programs save")
    func others() async throws {
        let shop = try Shop()
        let other = shop.other()
        try await shop.manager.load()
        var seen: [Int] = []
        for try await books in shop.manager.observe(Book.self, where: \.price < 10) {
            seen.append(books.count)
            if books.count == 2 { break }
            try await other.save([Book(id: "\(books.count)", title: "Emma", price: 1)])
        }
        #expect(seen == [0, 1, 2])
    }

    @Test("A thousand equal live queries have one connection for news, and read another program's save once")
    func manyObservers() async throws {
        let shop = try Shop()
        let other = shop.other()
        try await shop.manager.load()
        try await other.save([Book(id: "1", title: "Emma", price: 1)])
        let listening =
            """
            SELECT DISTINCT pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE d.datname = current_database() \
            AND l.locktype = 'advisory' AND l.classid = 747748
            """
        let before = try shop.database.rows(listening)
        let (lists, manager) = (Lists(), shop.manager)
        let observers = (0..<1_000).map { number in
            Task {
                for try await books in manager.observe(Book.self, where: \.price < 10) {
                    lists.all.withLock { $0[number] = books }
                }
            }
        }
        defer { for observer in observers { observer.cancel() } }
        func haveBegun() -> Bool { lists.all.withLock { $0.count == 1_000 } }
        #expect(try await eventually(within: .seconds(300)) { haveBegun() })
        #expect(try shop.database.rows(listening) == before)
        try await other.save([Book(id: "2", title: "Persuasion", price: 1)])
        func haveBoth() -> Bool { lists.all.withLock { $0.values.allSatisfy { $0.count == 2 } } }
        #expect(try await eventually(within: .seconds(300)) { haveBoth() })
        let places = lists.all.withLock { lists in
            Set(lists.values.map { $0.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } })
        }
        #expect(places.count == 1)
    }
}

/// What a thousand observers were told last.
private final class Lists: Sendable {
    let all = Mutex<[Int: [Book]]>([:])
}
