import CPQBaseline
import Foundation
import PippinPostgres

/// Saves of one row each, by several writers at once, each with a connection of its own: how many there are in a second.
func writerWorks(_ uri: String) throws {
    guard CommandLine.arguments.count < 4 || "small saves".contains(CommandLine.arguments[3]) else { return }
    print("small saves per second".padding(toLength: 52, withPad: " ", startingAt: 0) + "  by hand     ours  factor  at least 0.8")
    for writers in [1, 2, 4, 8, 16] {
        var (hand, ours) = (0.0, 0.0)
        for _ in 0..<3 {
            hand = max(hand, rate(writers) { SavesByHand(uri, $0).save })
            ours = max(
                ours,
                rate(writers) { writer in
                    let manager = manager(uri, "hand")
                    _ = try? manager.readAndWait { try $0.count(Item.self) }
                    return { number in
                        let item = Item.make(number)
                        let new = Item(
                            id: "\(writer)-\(UUID())", title: item.title, count: number, price: item.price,
                            createdAt: item.createdAt, isFlagged: true)
                        do { try manager.writeAndWait { try $0.insert(new) } } catch { fatalError("\(error)") }
                    }
                })
        }
        print(
            "\(writers) writers".padding(toLength: 52, withPad: " ", startingAt: 0)
                + String(format: "%9.0f%9.0f%8.2f", hand, ours, ours / hand) + (ours / hand >= 0.8 ? "" : "  under"))
    }
}

/// How often the work is done in a second by several threads.
private func rate(_ writers: Int, _ make: @escaping @Sendable (Int) -> (Int) -> Void) -> Double {
    let seconds = 1.5
    let (ready, go, done) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
    let counts = Counts(writers)
    for writer in 0..<writers {
        done.enter()
        Thread.detachNewThread {
            let work = make(writer)
            for number in 0..<20 { work(number) }
            ready.signal()
            go.wait()
            let end = Date().addingTimeInterval(seconds)
            var count = 0
            while Date() < end {
                work(count)
                count += 1
            }
            counts.set(writer, count)
            done.leave()
        }
    }
    for _ in 0..<writers { ready.wait() }
    for _ in 0..<writers { go.signal() }
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

    init(_ uri: String, _ writer: Int) {
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
                precondition(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, String(cString: PQerrorMessage(connection)))
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
