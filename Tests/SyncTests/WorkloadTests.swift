import Foundation
import Linearizability
import PippinPostgres
import PostgresServer
import StoreSession
import SyncPlanning
import Synchronization
import TestSupport
import Testing

@testable import PippinSync

/// A number from the environment: tests are short without one.
private func size(_ name: String, _ standard: Int) -> Int {
    Int(ProcessInfo.processInfo.environment["PIPPIN_SYNC_\(name)"] ?? "") ?? standard
}

/// What two shops sell; each edit adds one, so that edits can be counted.
private struct Order: CoreModel, Equatable {
    let id: Int
    var title = ""
    var edits = 0

    static var schema: Schema<Order> { Schema(.merge(\.edits, .sum), .whenDeleted(.keepEdits)) }
}

/// The same, and gone once somebody has deleted it.
private struct Draft: CoreModel, Equatable {
    let id: Int
    var edits = 0

    static var schema: Schema<Draft> { Schema(.merge(\.edits, .sum)) }
}

private struct Label: CoreModel, Equatable {
    let id: String
    var name: String

    static var schema: Schema<Label> { Schema(.unique(\.name)) }
}

@Suite("Two files that were apart for three days", .ownThread)
struct ThreeDaysTests {
    /// How many edits each file has; five times as many as orders, fifty times as many as clashes.
    private static let edits = size("EDITS", 400)

    private static func manager(_ location: StoreLocation) -> PersistenceManager {
        PersistenceManager(models: Order.self, Draft.self, Label.self, store: location)
    }

    private static func text(_ manager: PersistenceManager) async throws -> [String] {
        try await manager.fetch(Order.self).map { "\($0)" }.sorted()
            + manager.fetch(Draft.self).map { "\($0)" }.sorted() + manager.fetch(Label.self).map { "\($0)" }.sorted()
    }

    @Test("are equal after one sync each, and every edit is in the result or in a journal")
    func apart() async throws { try await Self.run(server: nil) }

    @Test("are equal in the same way with a PostgreSQL server", .needsPostgres)
    func apartOnPostgres() async throws {
        let database = try TestDatabase()
        try await Self.run(server: .postgres(database.uri(), keepsHistory: .always))
    }

    private static func run(server: StoreLocation?) async throws {
        let folder = try TestFolder()
        func file(_ name: String) -> StoreLocation {
            .file(folder.url.appendingPathComponent("\(name).sqlite"), keepsHistory: .always)
        }
        let server = server ?? file("server")
        let (orders, clashes) = (max(edits / 5, 40), max(edits / 50, 4))
        let central = manager(server)
        try await central.save((0..<orders).map { Order(id: $0) })
        try await central.save((0..<orders).map { Draft(id: $0) })
        let devices = [manager(file("a")), manager(file("b"))]
        var syncs: [StoreSync] = []
        for device in devices {
            syncs.append(try StoreSync(device, server, isLive: false))
            try await syncs.last?.finish()
        }
        // Each deletes a tenth of the orders, and edits none of those.
        let tenth = orders / 10
        let own = [0..<tenth, tenth..<2 * tenth]
        var random = SplitMix(state: 3)
        var draftEdits = 0
        for (place, device) in devices.enumerated() {
            for number in 0..<edits {
                let id = Int.random(in: 0..<orders, using: &random)
                if own[place].contains(id) {
                    // A draft that only the second file edits, and the first one deletes below.
                    let draft = own[0].lowerBound + number % tenth
                    if place == 1 {
                        draftEdits += 1
                        try await device.write { access in
                            guard var model = try access.find(Draft.self, id: draft) else { return }
                            model.edits += 1
                            try access.save(model)
                        }
                    }
                    continue
                }
                try await device.write { access in
                    guard var order = try access.find(Order.self, id: id) else { return }
                    order.edits += 1
                    order.title = "\(place).\(number)"
                    try access.save(order)
                }
            }
            for number in 0..<clashes {
                try await device.save(Label(id: "\(place) \(number)", name: "place \(number)"))
            }
        }
        var made = [0, 0]
        for (place, device) in devices.enumerated() {
            made[place] = try await device.fetch(Order.self).reduce(0) { $0 + $1.edits }
        }
        try await devices[0].delete(Order.self, ids: Array(own[0]))
        try await devices[0].delete(Draft.self, ids: Array(own[0]))
        try await devices[1].delete(Order.self, ids: Array(own[1]))

        for sync in syncs { try await sync.finish() }
        try await syncs[0].finish()

        let text = try await text(devices[0])
        #expect(try await Self.text(devices[1]) == text)
        #expect(try await Self.text(central) == text)
        // Kept models have all edits, and deletions that did not know of one were refused.
        let counted = try await central.fetch(Order.self).reduce(0) { $0 + $1.edits }
        #expect(counted == made[0] + made[1])
        let refused = [try await syncs[0].refused(), try await syncs[1].refused()]
        #expect(refused[0].isEmpty)
        #expect(refused[1].count { $0.entity == "Order" && $0.reason == .isChanged } > 0)
        #expect(refused[1].count { $0.entity == "Draft" && $0.reason == .isDeleted } == draftEdits)
        let taken = refused[1].filter { if case .valueIsTaken(["name"], _) = $0.reason { true } else { false } }
        #expect(taken.count == clashes && taken.allSatisfy { $0.kind == .inserted })
        #expect(try await central.count(Label.self) == clashes)
        for sync in syncs {
            #expect(try await sync.check() == [])
            await sync.stop()
        }
        for manager in devices + [central] { await manager.close() }
    }
}

@Suite("Two people in one list", .ownThread)
struct SharedListTests {
    /// How long the list is; each inserts a tenth at one place, and moves a twentieth.
    private static let lines = size("LINES", 200)

    @Test("see one order: runs are not mixed, nobody's move is lost, and nothing is there twice")
    func list() async throws {
        let shop = try await SyncShop()
        let (count, inserted, moved) = (Self.lines, Self.lines / 10, Self.lines / 20)
        let books = (0..<count).map { Book(id: "b\($0)", title: "T") }
        try await shop[0].save(Shelf(id: "s", name: "S", books: books))
        try await shop.settle()
        let new = ["x", "y"].map { name in (0..<inserted).map { Book(id: "\(name)\($0)", title: "N") } }
        for device in 0..<2 {
            var list = books
            list.insert(contentsOf: new[device], at: count / 2)
            // One moves a run to the end, the other one another run to the beginning.
            if device == 0 {
                list.append(contentsOf: list[10..<10 + moved])
                list.removeSubrange(10..<10 + moved)
            } else {
                let run = Array(list.suffix(moved))
                list.removeLast(moved)
                list.insert(contentsOf: run, at: 0)
            }
            try await shop[device].save(Shelf(id: "s", name: "S", books: list))
        }
        try await shop.settle()
        let order = try #require(try await shop[0].find(Shelf.self, id: "s")).books.map(\.id)
        #expect(try await shop[1].find(Shelf.self, id: "s")?.books.map(\.id) == order)
        #expect(try await shop.devices[1].text() == shop.serverText())
        #expect(order.count == count + 2 * inserted && Set(order).count == order.count)
        func run(_ ids: [String]) -> Bool {
            guard let first = ids.first, let place = order.firstIndex(of: first) else { return false }
            return Array(order[place...].prefix(ids.count)) == ids
        }
        for ids in new { #expect(run(ids.map(\.id))) }
        // The run that went to the end stands behind all others, and the one that went to the beginning before them.
        #expect(run((10..<10 + moved).map { "b\($0)" }) && run((count - moved..<count).map { "b\($0)" }))
        #expect(order.first == "b\(count - moved)" && order.last == "b\(10 + moved - 1)")
        for device in shop.devices { #expect(try await device.sync.refused().isEmpty) }
        await shop.end()
    }
}

// MARK: Three versions

private enum First {
    @CoreModel struct Paper: Equatable {
        let id: String
        var title: String
    }
}

private enum Second {
    @CoreModel struct Paper: Equatable {
        let id: String
        var title: String
        var pages = 1
    }
}

private enum Third {
    @CoreModel struct Paper: Equatable {
        let id: String
        var title: String
        var pages = 1
        var mood = "calm"
    }
}

@Suite("Programs of three versions", .ownThread)
struct ThreeVersionsTests {
    private static let saves = size("VERSION_SAVES", 150)

    /// One random save of a program; an older one writes what it knows.
    private static func save(
        _ manager: PersistenceManager, _ version: Int, _ number: Int, _ random: inout SplitMix
    ) async throws {
        let id = "p\(Int.random(in: 0..<20, using: &random))"
        let isNew = Int.random(in: 0..<8, using: &random) == 0
        switch version {
        case 1:
            if isNew { return try await manager.save(First.Paper(id: "\(id) \(number)", title: "1")) }
            try await manager.update(First.Paper.self, where: \.id == id) { $0.set(\.title, to: "1 \(number)") }
        case 2:
            if isNew { return try await manager.save(Second.Paper(id: "\(id) \(number)", title: "2", pages: number)) }
            try await manager.update(Second.Paper.self, where: \.id == id) { $0.set(\.pages, to: number) }
        default:
            if isNew {
                return try await manager.save(
                    Third.Paper(id: "\(id) \(number)", title: "3", pages: number, mood: "\(number)"))
            }
            try await manager.update(Third.Paper.self, where: \.id == id) { $0.set(\.mood, to: "\(number)") }
        }
    }

    private static func manager(_ version: Int, _ location: StoreLocation) -> PersistenceManager {
        switch version {
        case 1: PersistenceManager(models: First.Paper.self, store: location)
        case 2: PersistenceManager(models: Second.Paper.self, store: location)
        default: PersistenceManager(models: Third.Paper.self, store: location)
        }
    }

    @Test("change nothing that they do not know, and what waited for the server comes when it is migrated")
    func versions() async throws {
        let folder = try TestFolder()
        func location(_ name: String) -> StoreLocation {
            .file(folder.url.appendingPathComponent("\(name).sqlite"), keepsHistory: .always)
        }
        var programs = [2]
        let serverProgram = { Self.manager(programs.last ?? 2, location("server")) }
        var central = serverProgram()
        try await central.save((0..<20).map { Second.Paper(id: "p\($0)", title: "0") })
        func makeDevice(_ version: Int, _ name: String) throws -> WatchedDevice {
            let own = Self.manager(version, location(name))
            return try WatchedDevice(own, location("server"), opening: central)
        }
        var devices = [(1, try makeDevice(1, "one")), (2, try makeDevice(2, "two")), (3, try makeDevice(3, "three"))]
        var downloads = 0
        func watch() {
            for (_, device) in devices {
                device.server.before = { request in
                    if case .rows(let rows) = request, rows.kind == .everything, rows.after == nil { downloads += 1 }
                }
            }
        }
        watch()
        func settle() throws { for _ in 0..<3 { for (_, device) in devices { try device.runner.finish() } } }
        try settle()
        #expect(downloads == 3)
        var random = SplitMix(state: 5)
        let names = try devices.map { try $0.1.content().record.device.name }
        for number in 0..<Self.saves {
            let (version, device) = devices[Int.random(in: 0..<3, using: &random)]
            try await Self.save(device.manager, version, number, &random)
            if Int.random(in: 0..<6, using: &random) == 0 { try device.runner.finish() }
            if number == Self.saves / 2 {
                // The server's program is updated, and so is the oldest one of the devices'.
                let text = try await devices[2].1.manager.fetch(Third.Paper.self).map { "\($0)" }.sorted()
                try settle()
                let kept = try await devices[2].1.manager.fetch(Third.Paper.self)
                #expect(kept.contains { $0.mood != "calm" } && kept.count >= text.count)
                #expect(try devices[2].1.content().open.isEmpty == false)
                for (_, device) in devices { await device.server.close() }
                await central.close()
                programs.append(3)
                central = serverProgram()
                try await central.load()
                for (_, device) in devices { device.server.restart(opening: central) }
                try settle()
                // What waited is there, and nobody has read everything again.
                #expect(downloads == 3)
                let moods = Dictionary(uniqueKeysWithValues: kept.map { ($0.id, $0.mood) })
                for paper in try await central.fetch(Third.Paper.self) { #expect(paper.mood == moods[paper.id]) }
                await devices[0].1.end()
                devices[0] = (2, try makeDevice(2, "one"))
                watch()
            }
        }
        try settle()
        #expect(downloads == 3)
        // No transaction of a device has changed what its program did not know.
        let unknown = [names[0]: ["mood"], names[1]: ["mood"]]
        for transaction in try await central.history.transactions() {
            for change in try transaction.changes(of: Third.Paper.self) where change.kind == .changed {
                let hidden = unknown[transaction.author ?? ""] ?? []
                #expect(Set(change.properties ?? []).isDisjoint(with: hidden))
            }
        }
        let papers = try await central.fetch(Third.Paper.self, sortedBy: .ascending(\.id))
        #expect(try await devices[2].1.manager.fetch(Third.Paper.self, sortedBy: .ascending(\.id)) == papers)
        for place in 0..<2 {
            #expect(
                try await devices[place].1.manager.fetch(Second.Paper.self, sortedBy: .ascending(\.id))
                    == papers.map { Second.Paper(id: $0.id, title: $0.title, pages: $0.pages) })
        }
        for (_, device) in devices {
            #expect(try device.runner.device.journal().isEmpty)
            await device.end()
        }
        await central.close()
    }
}

// MARK: The server's order

/// What devices write over each other.
private struct Register: CoreModel, Equatable {
    let id: String
    var value: String

    static var schema: Schema<Register> { Schema(.merge(\.value, .mine)) }
}

/// Who did what, and when.
private final class Notebook: Sendable {
    let history = Mutex<[RegisterOperation]>([])
    /// How many devices have ended.
    let done = Mutex(0)

    func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    func note(_ kind: RegisterOperation.Kind, _ start: UInt64, _ name: String) {
        let operation = RegisterOperation(kind, start, now(), name: name)
        history.withLock { $0.append(operation) }
    }
}

@Suite("What devices write and read at the same time", .needsPostgres, .ownThread)
struct ServerOrderTests {
    private static let writes = size("REGISTER_WRITES", 40)

    @Test("could have happened on the server one after the other", .timeLimit(.minutes(5)))
    func linearizable() async throws {
        let (database, folder) = (try TestDatabase(), try TestFolder())
        let server = StoreLocation.postgres(database.uri(), keepsHistory: .always)
        let central = PersistenceManager(models: Register.self, store: server)
        try await central.save(Register(id: "r", value: "start"))
        let notebook = Notebook()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in 0..<3 {
                let file = StoreLocation.file(
                    folder.url.appendingPathComponent("\(device).sqlite"), keepsHistory: .always)
                group.addTask {
                    defer { notebook.done.withLock { $0 += 1 } }
                    let manager = PersistenceManager(models: Register.self, store: file)
                    let sync = try StoreSync(manager, server, isLive: false)
                    try await sync.finish()
                    for number in 0..<Self.writes {
                        let (value, start) = ("\(device).\(number)", notebook.now())
                        if number % 2 == 0 {
                            try await manager.update(Register.self, where: \.id == "r") { $0.set(\.value, to: value) }
                            try await sync.finish()
                            notebook.note(.write(value), start, "device \(device) writes")
                        } else {
                            // What is heard was so at some moment since it was asked for.
                            try await sync.finish()
                            notebook.note(
                                .read(try await manager.find(Register.self, id: "r")?.value), start, "device \(device)")
                        }
                    }
                    await sync.stop()
                    await manager.close()
                }
            }
            group.addTask {
                while notebook.done.withLock({ $0 }) < 3 {
                    let start = notebook.now()
                    notebook.note(.read(try await central.find(Register.self, id: "r")?.value), start, "server")
                    try await Task.sleep(for: .milliseconds(3))
                }
            }
            try await group.waitForAll()
        }
        let all = notebook.history.withLock { $0 }
        #expect(all.count > 3 * Self.writes)
        #expect(try Linearizability.order(of: all, from: "start") != nil)
        // The checker is not easily pleased: with one read of what was never there last it finds no order.
        let end = try #require(all.compactMap(\.end).max())
        let wrong = RegisterOperation(.read("start"), end + 1, end + 2)
        #expect(try Linearizability.order(of: all + [wrong], from: "start") == nil)
        await central.close()
    }
}
