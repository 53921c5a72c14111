import CPQBaseline
import Foundation
import PippinPostgres

/// Saves of one row each, by several writers at once, each with a connection of its own: how many there are in a second.
func writerWorks(_ uri: String) throws {
    guard CommandLine.arguments.count < 4 || "small saves".contains(CommandLine.arguments[3]) else { return }
    let most = 16
    try manager(uri, "hand").readAndWait { _ = try $0.count(Item.self) }
    let byHand = (0..<most).map { _ in Writer(SavesByHand(uri).save) }
    let model = ItemRecord.model()
    let contexts = try (0..<most).map { writer in
        let context = try context(uri, "writers", model)
        return Writer { number in
            let item = Item.new(number, of: writer)
            do {
                try context.performAndWait {
                    ItemRecord(context: context).take(item)
                    try context.save()
                }
            } catch { fatalError("\(error)") }
        }
    }
    compare("objects", byHand, contexts)
    // Each manager hears of what the others save.
    let managers = try (0..<most).map { writer in
        let manager = manager(uri, "hand")
        try manager.readAndWait { _ = try $0.count(Item.self) }
        return Writer { number in
            do { try manager.writeAndWait { try $0.insert(Item.new(number, of: writer)) } } catch {
                fatalError("\(error)")
            }
        }
    }
    compare("blocks of structs, all programs listening", byHand, managers)
}

private func compare(_ name: String, _ byHand: [Writer], _ ours: [Writer]) {
    print(
        "small saves per second: \(name)".padding(toLength: 68, withPad: " ", startingAt: 0)
            + "  by hand     ours  factor  at least 0.8")
    for writers in [1, 2, 4, 8, 16] {
        var (hand, own) = (0.0, 0.0)
        for _ in 0..<3 {
            hand = max(hand, rate(byHand.prefix(writers)))
            own = max(own, rate(ours.prefix(writers)))
        }
        print(
            "\(writers) writers".padding(toLength: 68, withPad: " ", startingAt: 0)
                + String(format: "%9.0f%9.0f%8.2f", hand, own, own / hand) + (own / hand >= 0.8 ? "" : "  under"))
    }
}

extension Item {
    /// An item that is not there yet.
    fileprivate static func new(_ number: Int, of writer: Int) -> Item {
        let item = Item.make(number)
        return Item(
            id: "\(writer)-\(UUID())", title: item.title, count: number, price: item.price, createdAt: item.createdAt,
            isFlagged: true)
    }
}

/// Work that one thread at a time does.
private final class Writer: @unchecked Sendable {
    // @unchecked Sendable: each is used by one thread at a time.
    let work: (Int) -> Void
    init(_ work: @escaping (Int) -> Void) { self.work = work }
}

/// How often the work is done in a second by several threads.
private func rate(_ writers: ArraySlice<Writer>) -> Double {
    let seconds = 1.5
    let (go, done) = (DispatchSemaphore(value: 0), DispatchGroup())
    let counts = Counts(writers.count)
    for (index, writer) in writers.enumerated() {
        done.enter()
        Thread.detachNewThread {
            for number in 0..<20 { writer.work(number) }
            go.wait()
            let end = Date().addingTimeInterval(seconds)
            var count = 0
            while Date() < end {
                writer.work(count)
                count += 1
            }
            counts.set(index, count)
            done.leave()
        }
    }
    for _ in writers { go.signal() }
    done.wait()
    return Double(counts.sum) / seconds
}

private final class Counts: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the list.
    private let lock = NSLock()
    private var counts: [Int]

    init(_ count: Int) { counts = Array(repeating: 0, count: count) }

    func set(_ index: Int, _ count: Int) { lock.withLock { counts[index] = count } }
    var sum: Int { lock.withLock { counts.reduce(0, +) } }
}

/// The statements of a save by hand, prepared, those of a transaction but its end sent together.
private final class SavesByHand {
    private let database: ByHand
    private static let statements = [
        "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        "SELECT pg_advisory_xact_lock_shared(747747, 1)",
        """
        WITH counted AS (UPDATE pippin.saves SET count = count + 1 WHERE schema_name = 'hand' AND slot = (pg_backend_pid() % 32)) \
        SELECT 1 / count(*) FROM pippin.stores WHERE schema_name = 'hand'
        """,
        """
        INSERT INTO hand.item (id, title, count, price, created_at, is_flagged) VALUES (gen_random_uuid()::text, \
        'The title of an item', 1, 2.5, now(), true)
        """,
        "SELECT pg_notify('pippin', 'hand')",
    ]

    init(_ uri: String) {
        database = ByHand(uri, schema: "hand")
        for (index, sql) in Self.statements.enumerated() {
            PQclear(PQprepare(database.connection, "s\(index)", sql, 0, nil))
        }
    }

    func save(_ number: Int) {
        let connection = database.connection
        PQenterPipelineMode(connection)
        for index in Self.statements.indices {
            PQsendQueryPrepared(connection, "s\(index)", 0, nil, nil, nil, 1)
        }
        PQpipelineSync(connection)
        for _ in Self.statements {
            while let result = PQgetResult(connection) {
                let status = PQresultStatus(result)
                precondition(
                    status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, String(cString: PQerrorMessage(connection))
                )
                PQclear(result)
            }
        }
        while let mark = PQgetResult(connection) {
            let isEnd = PQresultStatus(mark) == PGRES_PIPELINE_SYNC
            PQclear(mark)
            if isEnd { break }
        }
        PQexitPipelineMode(connection)
        database.run("COMMIT")
    }
}
