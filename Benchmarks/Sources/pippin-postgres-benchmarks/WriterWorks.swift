import CPQBaseline
import Foundation
import PippinPostgres
import Synchronization

/// Saves of one row each, by several writers at once, each with a connection of its own: how many there are in a
/// second.
func writerWorks(_ uri: String) throws {
    guard CommandLine.arguments.count < 4 || "small saves".contains(CommandLine.arguments[3]) else { return }
    let most = 16
    try manager(uri, "hand").readAndWait { _ = try $0.count(Item.self) }
    // A commit waits until its log is on the disk, as on any server that keeps what it has confirmed. The other works
    // do without.
    let server = ByHand(uri, schema: "hand")
    server.run("ALTER SYSTEM SET fsync = on")
    server.run("SELECT pg_reload_conf()")
    Pgbench.addWriters(server)
    let byHand = (0..<most).map { _ in Writer(SavesByHand(uri, looksFirst: false).save) }
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
    try compare("objects", byHand, contexts, Pgbench(uri: uri, looksFirst: false))
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
    // A block looks first whether the item is there.
    let lookingFirst = (0..<most).map { _ in Writer(SavesByHand(uri, looksFirst: true).save) }
    try compare(
        "blocks of structs", lookingFirst, managers, Pgbench(uri: uri, looksFirst: true))
}

private func compare(_ name: String, _ byHand: [Writer], _ ours: [Writer], _ pgbench: Pgbench) throws {
    print(
        "small saves per second: \(name)".padding(toLength: 62, withPad: " ", startingAt: 0)
            + "  by hand     ours µs hand µs ours  factor  pgbench  factor  at least 0.8  pipeline  factor")
    // A third argument behind the size says by how many.
    let given = CommandLine.arguments.count > 4 ? [Int(CommandLine.arguments[4]) ?? 1] : [1, 2, 4, 8, 16]
    for writers in given {
        var (hand, own, tool, pipeline) = (Rate(), Rate(), 0.0, 0.0)
        for _ in 0..<3 {
            hand = max(hand, rate(byHand.prefix(writers)))
            own = max(own, rate(ours.prefix(writers)))
            tool = max(tool, try pgbench.perSecond(writers, isPipelined: false) ?? 0)
            pipeline = max(pipeline, try pgbench.perSecond(writers, isPipelined: true) ?? 0)
        }
        func factor(_ other: Double) -> Double { own.perSecond / (other > 0 ? other : hand.perSecond) }
        print(
            "\(writers) writers".padding(toLength: 62, withPad: " ", startingAt: 0)
                + String(
                    format: "%9.0f%9.0f%8.0f%8.0f%8.2f%9.0f%8.2f", hand.perSecond, own.perSecond, hand.processor,
                    own.processor, own.perSecond / hand.perSecond, tool, factor(tool))
                + (factor(tool) >= 0.8 ? "              " : "  under       ")
                + String(format: "%10.0f%8.2f", pipeline, factor(pipeline)))
    }
}

private let run = UUID()
private let made = Atomic(0)

extension Item {
    /// An item that is not there yet.
    fileprivate static func new(_ number: Int, of writer: Int) -> Item {
        let item = Item.make(number)
        return Item(
            // `UUID()` opens a file each time.
            id: "\(writer)-\(run)-\(made.add(1, ordering: .relaxed).newValue)", title: item.title, count: number,
            price: item.price, createdAt: item.createdAt,
            isFlagged: true)
    }
}

/// Work that one thread at a time does.
private final class Writer: @unchecked Sendable {
    // @unchecked Sendable: each is used by one thread at a time.
    let work: (Int) -> Void
    init(_ work: @escaping (Int) -> Void) { self.work = work }
}

/// How often something is done in a second, and the processor time of the client for each time, in microseconds.
private struct Rate: Comparable {
    var perSecond = 0.0
    var processor = 0.0
    static func < (one: Rate, other: Rate) -> Bool { one.perSecond < other.perSecond }
}

/// How often the work is done in a second by several threads.
private func rate(_ writers: ArraySlice<Writer>) -> Rate {
    let seconds = 1.5
    let (ready, go, done) = (DispatchGroup(), DispatchSemaphore(value: 0), DispatchGroup())
    let counts = Counts(writers.count)
    for (index, writer) in writers.enumerated() {
        ready.enter()
        done.enter()
        Thread.detachNewThread {
            for number in 0..<20 { writer.work(number) }
            ready.leave()
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
    ready.wait()
    let used = Measure.processorTime()
    for _ in writers { go.signal() }
    done.wait()
    let count = Double(counts.sum)
    return Rate(perSecond: count / seconds, processor: (Measure.processorTime() - used) * 1000 / count)
}

private final class Counts: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the list.
    private let lock = NSLock()
    private var counts: [Int]

    init(_ count: Int) { counts = Array(repeating: 0, count: count) }

    func set(_ index: Int, _ count: Int) { lock.withLock { counts[index] = count } }
    var sum: Int { lock.withLock { counts.reduce(0, +) } }
}

/// Saves of one row: statements that are prepared, and sent all together.
private final class SavesByHand {
    private let database: ByHand
    private let count: Int32
    private let looksFirst: Bool

    init(_ uri: String, looksFirst: Bool) {
        database = ByHand(uri, schema: "hand")
        self.looksFirst = looksFirst
        if looksFirst { database.prepareFinding() }
        let writer = UUID()
        database.run("INSERT INTO pippin.writers VALUES ('hand', '\(writer)', 0, true, now())")
        let statements = SaveStatements.all(ofWriter: "'\(writer)'::uuid")
        count = Int32(statements.count)
        for (index, sql) in statements.enumerated() {
            PQclear(PQprepare(database.connection, "s\(index)", sql, 0, nil))
        }
    }

    func save(_ number: Int) {
        let connection = database.connection
        if looksFirst { precondition(database.find("item \(number) of nobody") == nil) }
        PQenterPipelineMode(connection)
        for index in 0..<count {
            PQsendQueryPrepared(connection, "s\(index)", 0, nil, nil, nil, 1)
        }
        PQpipelineSync(connection)
        for _ in 0..<count {
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
    }
}
