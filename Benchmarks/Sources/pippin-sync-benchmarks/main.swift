import CPQBaseline
import CSQLiteBaseline
import Dispatch
import Foundation
import PippinPostgres
import PippinSync

// `Scripts/bench-sync`: how fast files and a PostgreSQL server are kept in step. The first arguments are the URI of an
// empty database and a folder; a third one is the number of rows of the first download, 1,000,000 without it.

/// A row of six columns.
@CoreModel
struct Item: Equatable {
    let id: String
    var title: String
    var count: Int
    var price: Double
    var createdAt: Date
    var isFlagged: Bool

    static func make(_ number: Int) -> Item {
        Item(
            id: "item-\(number)", title: "The title of item \(number)", count: number, price: Double(number) / 4,
            createdAt: Date(timeIntervalSinceReferenceDate: Double(number)), isFlagged: number % 3 == 0)
    }
}

/// Ends the program over what it was given.
func refuse(_ reason: String) -> Never {
    FileHandle.standardError.write(Data("\(reason)\n".utf8))
    exit(2)
}

guard CommandLine.arguments.count > 2 else { refuse("usage: pippin-sync-benchmarks URI FOLDER [ROWS [PART]]") }
let uri = CommandLine.arguments[1]
let folder = URL(fileURLWithPath: CommandLine.arguments[2])
let size = CommandLine.arguments.count > 3 ? Int(CommandLine.arguments[3]) ?? 1_000_000 : 1_000_000
let part = CommandLine.arguments.count > 4 ? CommandLine.arguments[4] : nil

func manager(_ location: StoreLocation) -> PersistenceManager { PersistenceManager(models: Item.self, store: location) }

func file(_ name: String, keepsHistory: Bool = true) -> StoreLocation {
    .file(folder.appendingPathComponent("\(name).sqlite"), keepsHistory: keepsHistory ? .always : nil)
}

func server(_ schema: String, keepsHistory: Bool = true) -> StoreLocation {
    .postgres(uri, schema: schema, keepsHistory: keepsHistory ? .always : nil)
}

func seconds(_ work: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await work()
    return (ContinuousClock.now - start) / .seconds(1)
}

func say(_ name: String, _ values: String) {
    print(name.padding(toLength: 58, withPad: " ", startingAt: 0) + values)
    fflush(nil)
}

func digits(_ number: Double, _ count: Int = 2) -> String { String(format: "%.\(count)f", number) }

/// A value of `/proc/self/status` in megabytes.
func memory(_ name: String) throws -> Double {
    let text = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("\(name):") } ?? ""
    return (Double(line.filter(\.isNumber)) ?? 0) / 1024
}

/// Runs a part of the program in a process of its own, so that memory is that part's.
func child(_ part: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = [uri, folder.path, "\(size)", part]
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { exit(process.terminationStatus) }
}

// MARK: The first download

func fill() async throws {
    let manager = manager(server("big"))
    let time = try await seconds {
        for start in stride(from: 0, to: size, by: 10_000) {
            try await manager.insert((start..<min(start + 10_000, size)).map(Item.make))
        }
    }
    say("fill the server, saves of 10,000 rows", "\(digits(Double(size) / time, 0)) rows/s")
    await manager.close()
}

func download() async throws {
    let small = manager(file("small"))
    let first = try small.sync(with: server("small"))
    try await first.finish()
    let own = manager(file("big"))
    try await own.load()
    try "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    let idle = try memory("VmRSS")
    var sync: StoreSync?
    let time = try await seconds {
        sync = try own.sync(with: server("big"))
        try await sync?.finish()
    }
    let most = try memory("VmHWM")
    let count = try await own.count(Item.self)
    precondition(count == size)
    say("first download of \(size) rows of six columns", "\(digits(time)) s, \(digits(most - idle, 0)) MB above idle")
    await sync?.stop()
    await first.stop()
}

/// `COPY` out in its binary form, and one prepared insertion for each row, in one transaction.
func byHand() async throws {
    let time = await seconds {
        guard let server = PQconnectdb(uri), PQstatus(server) == CONNECTION_OK else {
            refuse("\(uri) cannot be reached.")
        }
        defer { PQfinish(server) }
        var database: OpaquePointer?
        sqlite3_open(folder.appendingPathComponent("hand.sqlite").path, &database)
        defer { sqlite3_close(database) }
        func run(_ sql: String) { precondition(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK) }
        run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        run(
            "CREATE TABLE item (pk INTEGER PRIMARY KEY, id TEXT, title TEXT, n INTEGER, price REAL, made REAL, flag INTEGER)"
        )
        run("CREATE UNIQUE INDEX by_id ON item (id); BEGIN")
        var insertion: OpaquePointer?
        sqlite3_prepare_v2(
            database, "INSERT INTO item (id, title, n, price, made, flag) VALUES (?, ?, ?, ?, ?, ?)", -1, &insertion,
            nil)
        PQclear(
            PQexec(
                server,
                "COPY (SELECT id, title, count, price, created_at, is_flagged FROM \"big\".item) TO STDOUT (FORMAT binary)"
            ))
        var isFirst = true
        while true {
            var buffer: UnsafeMutablePointer<CChar>?
            let length = PQgetCopyData(server, &buffer, 0)
            guard length > 0, let buffer else { break }
            defer { PQfreemem(buffer) }
            var place = UnsafeRawPointer(buffer)
            let end = place + Int(length)
            if isFirst { place += 19 }
            isFirst = false
            func next<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
                defer { place += MemoryLayout<Number>.size }
                return place.loadUnaligned(as: type).bigEndian
            }
            guard place + 2 <= end, next(Int16.self) == 6 else { continue }
            for column in Int32(1)...2 {
                let count = next(Int32.self)
                sqlite3_bind_text(insertion, column, place.assumingMemoryBound(to: CChar.self), count, nil)
                place += Int(count)
            }
            _ = next(Int32.self)
            sqlite3_bind_int64(insertion, 3, next(Int64.self))
            _ = next(Int32.self)
            sqlite3_bind_double(insertion, 4, Double(bitPattern: next(UInt64.self)))
            _ = next(Int32.self)
            // From 2000-01-01 to 2001-01-01.
            sqlite3_bind_double(insertion, 5, Double(next(Int64.self)) / 1e6 - 366 * 86_400)
            _ = next(Int32.self)
            sqlite3_bind_int(insertion, 6, Int32(next(UInt8.self)))
            sqlite3_step(insertion)
            sqlite3_reset(insertion)
        }
        sqlite3_finalize(insertion)
        run("COMMIT")
    }
    say("COPY out and insertions by hand", "\(digits(time)) s")
}

// MARK: Other works

func push() async throws {
    for (batch, rows) in [(100, 100_000), (1, 10_000)] {
        let own = manager(file("pushing \(batch)"))
        for start in stride(from: 0, to: rows, by: batch) {
            try await own.insert((start..<start + batch).map(Item.make))
        }
        let time = try await seconds {
            let sync = try own.sync(with: server("pushed_\(batch)"))
            try await sync.finish()
            await sync.stop()
        }
        say("push \(rows) rows that were saved \(batch) at a time", "\(digits(Double(rows) / time, 0)) rows/s")
        await own.close()
    }
}

/// Saves of one row each by some programs at once: how many a second.
func saves(_ schema: String, keepsHistory: Bool, programs: Int) async throws -> Double {
    let managers = (0..<programs).map { _ in manager(server(schema, keepsHistory: keepsHistory)) }
    for manager in managers { _ = try await manager.count(Item.self) }
    let count = 1_000
    let time = try await seconds {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (place, manager) in managers.enumerated() {
                group.addTask {
                    let first = Int.random(in: 0..<1_000_000_000) * 8 + place
                    for number in 0..<count / programs { try await manager.save(Item.make(first * 1_000 + number)) }
                }
            }
            try await group.waitForAll()
        }
    }
    for manager in managers { await manager.close() }
    return Double(count) / time
}

func history() async throws {
    for programs in [1, 4] {
        var (without, with) = (0.0, 0.0)
        for _ in 0..<3 {
            without = max(without, try await saves("plain", keepsHistory: false, programs: programs))
            with = max(with, try await saves("kept", keepsHistory: true, programs: programs))
        }
        say(
            "saves on the server by \(programs) programs, with a history",
            "\(digits(with, 0))/s, \(digits(with / without)) of \(digits(without, 0))/s without one")
    }
}

func latency() async throws {
    let (one, two) = (manager(file("one")), manager(file("two")))
    let syncs = try [one, two].map { try $0.sync(with: server("live")) }
    for sync in syncs { try await sync.finish() }
    try await one.save(Item.make(0))
    var times: [Double] = []
    let counts = AsyncStream<Int>.makeStream()
    let observing = Task {
        for try await item in two.observe(Item.self, id: "item-0") { counts.continuation.yield(item?.count ?? -1) }
    }
    var seen = counts.stream.makeAsyncIterator()
    while let count = await seen.next(), count != 0 {}
    for number in 1...1_000 {
        let start = ContinuousClock.now
        try await one.update(Item.self, where: \.id == "item-0") { $0.set(\.count, to: number) }
        while let count = await seen.next(), count != number {}
        times.append((ContinuousClock.now - start) / .milliseconds(1))
        try await Task.sleep(for: .milliseconds(5))
    }
    observing.cancel()
    times.sort()
    say(
        "from a save to the observer on another device, 1,000 saves",
        "median \(digits(times[500], 1)) ms, 99 of 100 \(digits(times[990], 1)) ms, longest \(digits(times[999], 1)) ms"
    )
    for sync in syncs { await sync.stop() }
}

func capture() async throws {
    for (count, runs) in [(1, 1_000), (1_000, 20)] {
        var best: [String: Double] = [:]
        for round in 0..<3 {
            for kind in ["plain", "history", "synced"] {
                let own = manager(file("\(kind) \(count) \(round)", keepsHistory: kind != "plain"))
                if kind == "synced" {
                    // One that has begun, and does not run: what is measured is the save alone.
                    let sync = try own.sync(with: file("server \(count) \(round)"))
                    try await sync.finish()
                    await sync.stop()
                }
                try await own.save(Item.make(-1))
                let time = try await seconds {
                    for run in 0..<runs { try await own.save((0..<count).map { Item.make(run * count + $0) }) }
                }
                best[kind] = min(best[kind] ?? .infinity, time)
                await own.close()
            }
        }
        let (plain, history, synced) = (best["plain"] ?? 0, best["history"] ?? 0, best["synced"] ?? 0)
        say(
            "saves of \(count) new rows in a file: \(digits(plain / Double(runs) * 1000)) ms",
            "\(digits(history / plain)) with a history, \(digits(synced / history)) of that in a synced store")
    }
}

do {
    switch part {
    case "fill": try await fill()
    case "download": try await download()
    case "hand": try await byHand()
    case "push": try await push()
    case "history": try await history()
    case "latency": try await latency()
    case "capture": try await capture()
    case let other?: refuse("The part \(other) is not known.")
    case nil: for part in ["fill", "hand", "download", "push", "history", "latency", "capture"] { try child(part) }
    }
} catch {
    print("\(error)")
    exit(1)
}
