import Pippin
import SQLiteConnection
import Synchronization
import Testing

private struct Link: CoreModel, Equatable, Sendable {
    let id: Int
    var next: [Link] = []
}

/// A link that counts how many of its kind were decoded.
private struct Counted: CoreModel {
    let id: Int
    var next: [Counted] = []

    static let decoded = Mutex(0)

    init(id: Int, next: [Counted] = []) { (self.id, self.next) = (id, next) }

    init(from decoder: any Decoder) throws {
        Self.decoded.withLock { $0 += 1 }
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        next = try container.decode([Counted].self, forKey: .next)
    }
}

private struct OwnedLink: CoreModel {
    let id: Int
    var next: [OwnedLink] = []
    static var schema: Schema<OwnedLink> { Schema(.owns(\.next)) }
}

private struct Knot: CoreModel, Hashable {
    let id: Int
    var next: Set<Knot> = []
}

/// Shared by whoever has it in it.
private final class Stop: CoreModel, @unchecked Sendable {
    // @unchecked Sendable: nobody sets `next` once it is made.
    let id: Int
    var next: Stop?

    init(id: Int, next: Stop?) { (self.id, self.next) = (id, next) }
}

@Suite("Models in models, many levels deep")
struct DeepGraphTests {
    private func chain(_ count: Int) -> Link {
        (1..<count).reduce(Link(id: 0)) { Link(id: $1, next: [$0]) }
    }

    private func depth(_ link: Link) -> Int {
        var (depth, current) = (1, link)
        while let next = current.next.first { (depth, current) = (depth + 1, next) }
        return depth
    }

    @Test("are saved, fetched one by one and all together, and deleted")
    func chain() async throws {
        let counter = try Counter(Link.self)
        try await counter.manager.save(chain(3_000))
        #expect(depth(try #require(try await counter.manager.find(Link.self, id: 2_999))) == 3_000)
        let all = try await counter.manager.fetch(Link.self, sortedBy: .ascending(\.id))
        #expect([0, 1, 1_500, 2_999].map { depth(all[$0]) } == [1, 2, 1_501, 3_000])
        #expect(try await counter.manager.delete(Link.self, where: \.id >= 0) == 3_000)
    }

    @Test("are deleted with the outermost if they belong to each other")
    func cascade() async throws {
        let counter = try Counter(OwnedLink.self)
        try await counter.manager.save((1..<1_000).reduce(OwnedLink(id: 0)) { OwnedLink(id: $1, next: [$0]) })
        try await counter.manager.delete(OwnedLink.self, ids: [999])
        #expect(try counter.number("SELECT count(*) FROM ZOWNEDLINK") == 0)
    }

    @Test("are refused beyond a limit, when they are saved and when they are fetched, with the way")
    func limit() async throws {
        let counter = try Counter(Link.self)
        let chain = chain(12_000)
        await #expect {
            try await counter.manager.save(chain)
        } throws: { $0.localizedDescription.contains("10000 levels") }
        #expect(try await counter.manager.fetch(Link.self).isEmpty)
        // Others may have written it nevertheless.
        try await counter.manager.save(Link(id: 0))
        let connection = try Connection(path: counter.file.path, mode: .readWrite)
        try connection.execute(
            """
            INSERT INTO ZLINK (Z_PK, Z_ENT, Z_OPT, ZID)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10100)
            SELECT i + 1, 1, 1, i FROM n
            """)
        let (table, forward, back) = try joinTable(connection)
        try connection.execute(
            "INSERT INTO \(table) (\(forward), \(back)) SELECT Z_PK, Z_PK - 1 FROM ZLINK WHERE Z_PK > 1")
        await #expect {
            _ = try await counter.manager.fetch(Link.self)
        } throws: { $0.localizedDescription.contains("10000 levels deep: Link '") }
    }

    @Test("are decoded once each where many lead to them")
    func sharing() async throws {
        let counter = try Counter(Counted.self)
        // Two a level, each with both of the next: 2²¹ ways.
        var level = [Counted(id: 0), Counted(id: 1)]
        for index in 1..<22 { level = [Counted(id: 2 * index, next: level), Counted(id: 2 * index + 1, next: level)] }
        try await counter.manager.save(level)
        let before = Counted.decoded.withLock { $0 }
        let highest = try await counter.manager.fetch(Counted.self, where: \.id >= 42)
        #expect(highest.map { $0.next.count } == [2, 2])
        #expect(Counted.decoded.withLock { $0 } - before == 44)
        #expect(try await counter.manager.fetch(Counted.self).count == 44)
        #expect(Counted.decoded.withLock { $0 } - before == 88)
    }

    @Test("are refused in sets that would hash more than a limit")
    func sets() async throws {
        let counter = try Counter(Knot.self)
        try await counter.manager.save((0..<48).map { Knot(id: $0) })
        var pairs: [(Int, Int)] = []
        for knot in 2..<48 {
            let below = knot / 2 * 2
            pairs += [(knot, below - 2), (knot, below - 1)]
        }
        try connect(counter, pairs)
        await #expect {
            _ = try await counter.manager.fetch(Knot.self, where: \.id == 47)
        } throws: { error in
            let text = error.localizedDescription
            return text.contains("1000000 models") && text.contains("'next'") && text.contains("→ Knot")
        }
    }

    @Test("are refused with the way if they lead back to themselves too often")
    func cycles() async throws {
        let counter = try Counter(Link.self)
        // Everybody knows everybody.
        try await counter.manager.save((0..<12).map { Link(id: $0) })
        var pairs: [(Int, Int)] = []
        for one in 0..<12 { for other in 0..<12 where other != one { pairs.append((one, other)) } }
        try connect(counter, pairs)
        await #expect {
            _ = try await counter.manager.find(Link.self, id: 0)
        } throws: { $0.localizedDescription.contains("more than 200000 times: Link '0' → Link") }
    }

    @Test("may lead back to themselves in few ways")
    func fewCycles() async throws {
        let counter = try Counter(Link.self)
        try await counter.manager.save((0..<3).map { Link(id: $0) })
        try connect(counter, [(0, 1), (1, 2), (2, 0), (2, 2)])
        let link = try await #require(try counter.manager.find(Link.self, id: 0))
        let end = [Link(id: 0), Link(id: 2)]
        #expect(link.next.first?.next.first?.next.sorted { $0.id < $1.id } == end)
    }

    /// Makes models lead to others, by SQL: as values, some of them could not be made.
    private func connect(_ counter: Counter, _ pairs: [(from: Int, to: Int)]) throws {
        let connection = try Connection(path: counter.file.path, mode: .readWrite)
        let (table, forward, back) = try joinTable(connection)
        let entity = try #require(
            try connection.strings("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z[A-Z]*'").first)
        for (from, to) in pairs {
            let keys = [from, to].map { "(SELECT Z_PK FROM \(entity) WHERE ZID = \($0))" }
            try connection.execute("INSERT INTO \(table) (\(forward), \(back)) VALUES (\(keys[0]), \(keys[1]))")
        }
    }

    /// The join table, and its columns: what leads, and what it leads to.
    private func joinTable(_ connection: Connection) throws -> (String, String, String) {
        let tables = try connection.strings(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_*NEXT*'")
        let table = try #require(tables.first)
        let columns = try connection.strings("SELECT name FROM pragma_table_info('\(table)')")
            .filter { !$0.hasPrefix("Z_FOK") }
        // A column is called after the relationship that reads it.
        let back = columns.first { !$0.contains("NEXTOF") } ?? columns[0]
        return (table, columns.first { $0 != back } ?? columns[1], back)
    }

    @Test("are one object of a class, however many lead to it")
    func classes() async throws {
        let counter = try Counter(Stop.self)
        try await counter.manager.save((1..<500).reduce(Stop(id: 0, next: nil)) { Stop(id: $1, next: $0) })
        var stop = try await counter.manager.find(Stop.self, id: 499)
        var count = 0
        while let current = stop { (count, stop) = (count + 1, current.next) }
        #expect(count == 500)
    }
}

extension Connection {
    fileprivate func strings(_ sql: String) throws -> [String] {
        let statement = try prepare(sql)
        var strings: [String] = []
        while try statement.step() { strings.append(statement.string(at: 0)) }
        return strings
    }
}
